// Creates equal videos through OpenAI's client for Node, one after the other, with the repeats that
// the client makes by itself: node openai-repeats-process.mjs PACKAGES URL KEY PROMPT COUNT. Prints the
// id of each video, or the status of its refusal.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, url, apiKey, prompt, count] = process.argv.slice(2);
const path = createRequire(`${packages}/`).resolve('openai');
const { default: OpenAI } = await import(pathToFileURL(path).href);
const { videos } = new OpenAI({ baseURL: `${url}/v1`, apiKey });

const seen = [];
for (let made = 0; made < Number(count); made += 1) {
  const create = videos.create({ model: 'studio-2.0', prompt, seconds: '4' });
  seen.push(await create.then(({ id }) => id).catch(({ status }) => status));
}
process.stdout.write(`${JSON.stringify(seen)}\n`);
