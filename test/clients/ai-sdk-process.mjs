// Starts a video with the Vercel AI SDK, or reads its status, in a process of its own:
// node ai-sdk-process.mjs start|status|generate SETTINGS

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createVideoProvider } from '../../clients/typescript/dist/ai-sdk.js';

const [, , what, text] = process.argv;
const { packages, baseUrl, apiKey, args } = JSON.parse(text);
const ai = await import(pathToFileURL(createRequire(`${packages}/`).resolve('ai')).href);
const model = createVideoProvider({ baseUrl, apiKey }).video('studio-2.0');

/** The SDK's own download refuses the address of this machine. */
async function download({ url }) {
  const response = await fetch(url);
  const mediaType = response.headers.get('content-type') ?? undefined;
  return { data: new Uint8Array(await response.arrayBuffer()), mediaType };
}

/** Resolves with the first callback, as a route of an application would. */
async function aWebhook() {
  let take;
  const received = new Promise((resolve) => {
    take = resolve;
  });
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.writeHead(204).end();
    take({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
  });
  await new Promise((resolve) => server.listen(args.port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${args.port}/hook`, received };
}

const acts = {
  start: () => ai.experimental_startVideo({ model, ...args }),
  status: () => ai.experimental_getVideoStatus(model, args),
  async generate() {
    const options = { model, ...args.options, webhook: aWebhook, download };
    const { video } = await ai.experimental_generateVideo(options);
    return { bytes: video.uint8Array.length, mediaType: video.mediaType };
  },
};

process.stdout.write(JSON.stringify(await acts[what]()));
process.exit();
