// Calls the service through clients of other services in JavaScript, and prints what they saw:
// node vendors.mjs openai|bytedance|creates-openai|creates-bytedance SETTINGS

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [, , what, text] = process.argv;
const { packages, url, apiKey, mark, creates, picture } = JSON.parse(text);
const load = async (name) =>
  import(pathToFileURL(createRequire(`${packages}/`).resolve(name)).href);
const common = { model: 'studio-2.0', seconds: '5', size: '1280x720' };
const quick = { metadata: { studio: { render: 'none' } } };

async function openAi(options = {}) {
  const { default: OpenAI, toFile } = await load('openai');
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, ...options });
  return { videos: client.videos, toFile };
}

async function byteDance() {
  const { createByteDance } = await load('@ai-sdk/bytedance');
  return createByteDance({ apiKey, baseURL: `${url}/api/v3` }).video('studio-2.0');
}

async function use() {
  const { videos, toFile } = await openAi();
  const image = await toFile(Buffer.from(picture, 'base64'), 'a.png', { type: 'image/png' });
  let video = await videos.create({ ...common, prompt: mark, input_reference: image });
  while (video.status === 'queued' || video.status === 'in_progress') {
    await sleep(500);
    video = await videos.retrieve(video.id);
  }
  const content = await videos.downloadContent(video.id);
  const bytes = Buffer.from(await content.arrayBuffer());
  const ids = [];
  for await (const { id } of videos.list({ limit: 2 })) ids.push(id);
  const { deleted } = await videos.delete(video.id);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { id: video.id, status: video.status, seconds: video.seconds, sha256, ids, deleted };
}

async function generateVideo(options) {
  const { experimental_generateVideo: generate } = await load('ai');
  return generate({ model: await byteDance(), aspectRatio: '16:9', duration: 5, ...options });
}

async function generate() {
  const { video } = await generateVideo({
    prompt: mark,
    download: async ({ url: link }) => ({
      data: new Uint8Array(await (await fetch(link)).arrayBuffer()),
      mediaType: 'video/mp4',
    }),
  });
  return { sha256: createHash('sha256').update(video.uint8Array).digest('hex') };
}

/** Runs many creates, eight at a time, and returns their ids in order. */
async function many(create) {
  const ids = [];
  let next = 0;
  const work = async () => {
    while (next < creates) {
      const at = next;
      next += 1;
      ids[at] = await create(`${mark} ${at}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return { ids };
}

const acts = {
  openai: use,
  bytedance: generate,
  async 'creates-openai'() {
    const { videos } = await openAi({ maxRetries: 12 });
    return many(async (prompt) => (await videos.create({ ...common, ...quick, prompt })).id);
  },
  // This provider waits for the end of the video in the call that is repeated, and sends no key.
  async 'creates-bytedance'() {
    return many(async (prompt) => {
      const { responses } = await generateVideo({
        ...{ prompt, maxRetries: 12, headers: { 'idempotency-key': prompt.replaceAll(' ', '-') } },
        providerOptions: { bytedance: { ...quick.metadata, pollIntervalMs: 500 } },
        download: async () => ({ data: new Uint8Array(1), mediaType: 'video/mp4' }),
      });
      return responses[0].providerMetadata.bytedance.taskId;
    });
  },
};

process.stdout.write(JSON.stringify(await acts[what]()));
process.exit();
