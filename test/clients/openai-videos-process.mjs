// Calls the studio through OpenAI's client for Node: node openai-videos-process.mjs SETTINGS. Prints
// what the client saw.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { packages, baseURL, apiKey } = JSON.parse(process.argv[2]);
const path = createRequire(`${packages}/`).resolve('openai');
const { default: OpenAI, toFile } = await import(pathToFileURL(path).href);
const { videos } = new OpenAI({ baseURL, apiKey });

const common = { model: 'studio-2.0', prompt: 'a calico cat', size: '1280x720' };
const png = await toFile(Buffer.from('89504e470d0a1a0a', 'hex'), 'a.png', { type: 'image/png' });

async function ended(fields) {
  const { id } = await videos.create({ ...common, ...fields });
  for (;;) {
    const video = await videos.retrieve(id);
    if (video.status !== 'queued' && video.status !== 'in_progress') return video;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
const codeOf = (promise) => promise.catch(({ status, code }) => [status, code]);

const text = await ended({ seconds: '8' });
const file = await ended({ seconds: '4', input_reference: png });
const address = { image_url: 'https://example.com/a.png' };
const image = await ended({ seconds: '4', input_reference: address });
const content = await videos.downloadContent(text.id);
const bytes = Buffer.from(await content.arrayBuffer());
const listed = [];
for await (const { id } of videos.list({ limit: 1, order: 'asc' })) listed.push(id);
const { deleted } = await videos.delete(file.id);
const seen = {
  ended: [text, file, image].map(({ status, seconds, size }) => [status, seconds, size]),
  bytes: bytes.subarray(4, 8).toString(),
  listed: listed.length,
  deleted,
  unknown: await codeOf(videos.retrieve(file.id)),
  refused: await codeOf(videos.create({ ...common, size: '8x8' })),
};
process.stdout.write(JSON.stringify(seen));
process.exit();
