// Calls the studio through MiniMax's provider of the Vercel AI SDK: node minimax-process.mjs SETTINGS.
// Prints what the SDK saw.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { packages, baseURL, apiKey } = JSON.parse(process.argv[2]);
const load = (name) => import(pathToFileURL(createRequire(`${packages}/`).resolve(name)).href);
const { createMiniMax } = await load('@ai-sdk/minimax');
const provider = createMiniMax({ videoBaseURL: baseURL, apiKey });

async function ended(model, options) {
  const { operation, warnings } = await model.doStart({ prompt: 'a calico cat', ...options });
  for (;;) {
    const seen = await model.doStatus({ operation });
    if (seen.status !== 'pending') return { ...seen, warned: warnings.length };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const picture = { type: 'url', url: 'https://example.com/a.png', mediaType: 'image/png' };
const h3 = provider.video('MiniMax-H3');
const text = await ended(h3, { aspectRatio: '9:16', resolution: '768x1366', duration: 6 });
const frames = await ended(h3, {
  image: picture,
  frameImages: [
    { image: picture, frameType: 'first_frame' },
    { image: picture, frameType: 'last_frame' },
  ],
});
const references = await ended(h3, { inputReferences: [picture] });
const max = await ended(provider.video('MiniMax-H3-Max'), { duration: 5 });
const factsOf = ({ status, warned, videos, providerMetadata: { minimax } = {} }) => ({
  status,
  warned,
  type: videos?.[0].mediaType,
  facts: [minimax?.resolution, minimax?.ratio, minimax?.duration, minimax?.usage?.outputSeconds],
});
const unknown = await h3
  .doStatus({ operation: { taskId: '424010985738629' } })
  .catch((error) => [error.statusCode, error.message]);
const refused = await h3
  .doStart({ prompt: '' })
  .catch((error) => [error.statusCode, error.data?.error?.type]);
const seen = [text, frames, references, max].map(factsOf);
process.stdout.write(JSON.stringify({ seen, unknown, refused }));
process.exit();
