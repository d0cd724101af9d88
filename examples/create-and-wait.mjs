// Creates a video task and waits for its end. Needs Node 20 and nothing else.
//
// API_KEY=… node examples/create-and-wait.mjs "A paper boat on a rainy street"
//
// BASE_URL is the address of the service; the default is http://127.0.0.1:8080. If CALLBACK_URL is
// set, the service calls this address when the task has finished. With the IDEMPOTENCY_KEY of an
// earlier run, the program continues with its task.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const baseUrl = process.env.BASE_URL ?? 'http://127.0.0.1:8080';
const apiKey = process.env.API_KEY;
const tasks = `${baseUrl}/v1/videos/generations`;

/**
 * Makes a call, with up to six tries if there is no answer, or a 408, 429 or 5xx. Other errors are
 * thrown, because a repetition would get the same answer.
 */
async function call(url, init = {}) {
  for (let tries = 1; ; tries += 1) {
    let response = null;
    let answer;
    let cause = null;
    try {
      response = await fetch(url, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${apiKey}` },
        // Longer than the minute for which `waitFor` lets the service wait.
        signal: AbortSignal.timeout(90_000),
      });
      answer = await response.json();
    } catch (error) {
      cause = error;
    }
    if (answer && response.ok) return answer;
    if (answer && ![408, 429].includes(response.status) && response.status < 500) {
      throw new Error(`${answer.error.code}: ${answer.error.message}`);
    }
    if (tries === 6)
      throw new Error(`The service does not answer (${response?.status ?? String(cause)}).`);
    await sleep(1_000 * (Number(response?.headers.get('retry-after')) || 2 ** (tries - 1)));
  }
}

async function createTask(prompt) {
  const metadata = process.env.CALLBACK_URL ? { callback_url: process.env.CALLBACK_URL } : {};
  const key = process.env.IDEMPOTENCY_KEY || randomUUID();
  console.error(`IDEMPOTENCY_KEY=${key}`);
  return call(tasks, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // All tries send the same key, so the service creates and charges only one task.
      'idempotency-key': key,
    },
    body: JSON.stringify({
      model: process.env.MODEL ?? 'studio-2.0',
      prompt,
      resolution: '480p',
      ratio: '16:9',
      duration: 5,
      metadata,
    }),
  });
}

async function waitFor(id) {
  for (;;) {
    // The service answers when the task has finished, or after a minute.
    const task = await call(`${tasks}/${id}`, { headers: { prefer: 'wait=60' } });
    if (task.status === 'succeeded' || task.status === 'failed') return task;
    console.error(`${id}: ${task.status}`);
    // The service answers at once if it holds too many reads.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function main() {
  if (!apiKey) throw new Error('Set API_KEY: `npm start` prints one.');
  const { id } = await createTask(process.argv[2] ?? 'A paper boat on a rainy street');
  console.error(`${id}: created`);
  const task = await waitFor(id);
  if (task.status === 'failed') throw new Error(`${task.error.code}: ${task.error.message}`);
  console.error(`${task.duration} s for ${task.billing.charged} ${task.billing.currency}`);
  console.log(task.video_url);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
