// Runs one call of the TypeScript client, as test/clients/behaviours.ts asks, and prints what came
// of it as JSON: node driver.mjs CALL

import { createHash } from 'node:crypto';
import { VideoClient, verifyCallback } from '../../clients/typescript/dist/index.js';

const { baseUrl, apiKey, call, args, repeatForMs, stopAfterMs } = JSON.parse(process.argv[2]);
const client = new VideoClient({ baseUrl, apiKey, repeatForMs, timeoutMs: 5_000 });
const stop = new AbortController();
if (stopAfterMs) setTimeout(() => stop.abort(), stopAfterMs);
const say = (word) => (value) => void process.stderr.write(`${word} ${value.id}\n`);

const calls = {
  create: ({ request, key }) => client.create(request, { idempotencyKey: key }),
  get: ({ id }) => client.get(id),
  wait: ({ id }) => client.wait(id, { onUpdate: say('update'), holdSeconds: 2 }),
  createAndWait: ({ request, key }) =>
    client.createAndWait(request, {
      ...{ idempotencyKey: key, signal: stop.signal, holdSeconds: 2 },
      onCreated: say('created'),
    }),
  list: async ({ labels, pageSize }) => {
    const ids = [];
    for await (const { id } of client.list({ labels, pageSize })) ids.push(id);
    return ids;
  },
  cancel: ({ id }) => client.cancel(id),
  quote: ({ request }) => client.quote(request),
  upload: ({ base64, ...options }) => client.upload(Buffer.from(base64, 'base64'), options),
  download: async ({ url }) => {
    const hash = createHash('sha256');
    for await (const chunk of client.download(url)) hash.update(chunk);
    return hash.digest('hex');
  },
  verifyCallback: ({ body, headers, secret }) => verifyCallback(body, headers, secret),
};

try {
  process.stdout.write(JSON.stringify({ value: await calls[call](args) }));
} catch (error) {
  const { code, param, status, requestId, taskId, idempotencyKey } = error;
  const stopped = error.name === 'AbortError';
  const fields = { code, param, status, requestId, taskId, idempotencyKey, text: String(error) };
  process.stdout.write(JSON.stringify({ error: stopped ? { stopped } : fields }));
}
process.exit();
