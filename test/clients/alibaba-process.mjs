// Makes a video with the provider of the Vercel AI SDK for Alibaba:
// node alibaba-process.mjs SETTINGS

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { packages, url, apiKey, model: name, args } = JSON.parse(process.argv[2]);
const resolved = createRequire(`${packages}/`).resolve('@ai-sdk/alibaba');
const { createAlibaba } = await import(pathToFileURL(resolved).href);
const model = createAlibaba({ apiKey, videoBaseURL: `${url}/dashscope` }).video(name);

try {
  const { operation, warnings } = await model.doStart({ n: 1, providerOptions: {}, ...args });
  let seen;
  do {
    await new Promise((next) => setTimeout(next, 200));
    seen = await model.doStatus({ operation });
  } while (seen.status === 'pending');
  process.stdout.write(JSON.stringify({ ...seen, warnings }));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: [error.statusCode, error.data?.code] }));
}
process.exit();
