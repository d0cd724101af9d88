// Receives callbacks. Each message is verified and answered at once, and the work follows the
// answer. A message that arrives again is answered but not processed again. Needs Node 20 and
// `npm install standardwebhooks`.
//
// WEBHOOK_SECRET=whsec_… PORT=9000 node examples/receiver.mjs
//
// A local service must be started with the address of this receiver:
// `npm start -- --receiver 127.0.0.1:9000`.

import { createServer } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

// A callback contains a task object, which is far smaller.
const bytesMax = 256 * 1024;

// During a rotation, WEBHOOK_SECRET contains both secrets, separated by a space.
const webhooks = readSecrets();

/**
 * The ids of accepted messages. In production use a table with a unique column, written in the same
 * transaction as the work.
 */
const taken = new Set();

function readSecrets() {
  const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ').filter(Boolean);
  const areComplete = secrets.length > 0 && secrets.every((text) => text.startsWith('whsec_'));
  try {
    if (areComplete) return secrets.map((secret) => new Webhook(secret));
  } catch {
    // The secret is not base64. The message below says what is needed.
  }
  console.error(
    'WEBHOOK_SECRET must be the whsec_… of your account; ' +
      'with `npm start`, `node scripts/running.mjs webhookSecret` prints it.',
  );
  return process.exit(1);
}

/** Returns the task of a message. Throws if its signature is wrong or older than five minutes. */
function verify(body, headers) {
  let refusal;
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // A body that is too long is read to its end, so that its sender gets the answer.
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  if (bytes > bytesMax) return null;
  // The signature covers exactly these bytes, so they must be verified before they are parsed.
  return Buffer.concat(chunks).toString('utf8');
}

async function receive(request) {
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === null) return 413;
  let task;
  try {
    task = verify(body, request.headers);
  } catch (error) {
    console.error(`refused: ${error.message}`);
    return 400;
  }
  // The test of a webhook and an alert are signed too, and are no tasks.
  if (task.object !== 'video.generation.task') return 204;
  const id = request.headers['webhook-id'];
  // The message was accepted before. Without a 2xx, the service would send it again.
  if (taken.has(id)) return 204;
  taken.add(id);
  setImmediate(() => work(task));
  return 204;
}

/** Runs after the answer was sent, so the service does not wait for this work. */
function work(task) {
  if (task.status === 'succeeded') console.log(`${task.id} succeeded: ${task.video_url}`);
  else console.log(`${task.id} failed: ${task.error.message}`);
}

function main() {
  const server = createServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      (error) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  });
  server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => {
    console.error(`listening on http://127.0.0.1:${server.address().port}`);
  });
  process.once('SIGTERM', () => server.close());
}

main();
