// Executes the examples in README.md, docs/api.md and the OpenAPI document. Example requests are
// sent and must be answered as stated, and example replies must fit their schema. In docs/api.md a
// label tells what a JSON block is. In README.md a request must be accepted unless it is labelled
// refused.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { alertMessageSchema } from '../../src/contract/alert-schema';
import { callbackListSchema, callbacksSchema } from '../../src/contract/callback-schema';
import { refusals } from '../../src/contract/error';
import { type RequestExample, requestExamples } from '../../src/contract/examples';
import { fileSchema } from '../../src/contract/file-schema';
import { modelSchema } from '../../src/contract/model-schema';
import * as replies from '../../src/contract/reply-schema';
import { webhookTestSchema } from '../../src/contract/webhook-schema';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { beginnings } from '../support/files';
import { type Block, blocksOf, callsOf } from '../support/markdown';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ dangerouslyAllowHosts: ['localhost:8090', '127.0.0.1:8090'] });
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const root = join(__dirname, '../..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const contract = blocksOf(read('docs/api.md'));

const schemas: Readonly<Record<string, z.ZodType>> = {
  created: replies.createdSchema,
  task: replies.taskSchema,
  tasks: replies.tasksSchema,
  error: replies.errorSchema,
  quoted: replies.quoteSchema,
  model: modelSchema,
  account: replies.accountSchema,
  statement: replies.statementSchema,
  callbacks: callbacksSchema,
  'callback list': callbackListSchema,
  'webhook test': webhookTestSchema,
  alert: alertMessageSchema,
  file: fileSchema,
};

const named = (blocks: readonly Block[], language: string) =>
  blocks
    .map(
      (block, index) =>
        [`${block.language} ${block.label}, line ${block.line}`, block, index] as const,
    )
    .filter(([, block]) => block.language === language);

/** The example reply in the block after an example request. */
const answerAfter = (index: number, label: string) => {
  const next = contract[index + 1];
  expect(next?.label).toBe(label);
  return JSON.parse(next!.text);
};

describe('docs/api.md', () => {
  test.each(named(contract, 'json'))(
    'the example "%s" is correct',
    async (_, { label, text }, index) => {
      const example = JSON.parse(text);
      switch (label) {
        case 'create': {
          const { status, json } = await api.call('POST', create, example);
          expect([status, json.error]).toEqual([200, undefined]);
          return;
        }
        case 'create refused': {
          const { status, json } = await api.call('POST', create, example);
          expect(json).toEqual(answerAfter(index, 'error'));
          expect(status).toBe(refusals[json.error.code as keyof typeof refusals].status);
          return;
        }
        case 'quote': {
          const { json } = await api.call('POST', '/v1/videos/quotes', example);
          expect(json).toEqual(answerAfter(index, 'quoted'));
          return;
        }
        default:
          // No other case tests a block with an unknown label, so an unknown label is an error.
          expect(Object.keys(schemas)).toContain(label);
          expect(schemas[label]!.safeParse(example).error).toBeUndefined();
      }
    },
  );

  test('the example of a model equals the served model', async () => {
    const shown = JSON.parse(contract.find(({ label }) => label === 'model')!.text);
    const { json } = await api.call('GET', '/v1/models');
    const { super_resolution: served, ...model } = json.data.find(
      ({ id }: { id: string }) => id === shown.id,
    );
    const { super_resolution: part, ...rest } = shown;
    expect(rest).toEqual(model);
    expect(part.targets).toEqual(served.targets);
    expect(served.prices).toEqual(expect.arrayContaining(part.prices));
  });
});

const pages = ['README.md', 'docs/api.md'].filter((name) => existsSync(join(root, name)));
const shells = pages.flatMap((page) =>
  ['sh', 'bash', 'shell', 'console']
    .flatMap((language) => named(blocksOf(read(page)), language))
    .map(([name, block]) => [`${page}: ${name}`, block] as const),
);

/**
 * The headers of an example as this test sends them. The test uses its own API key. Tasks do not
 * end by themselves here, so a wait is shortened to one second.
 */
function asSent(sent: Readonly<Record<string, string>>) {
  const headers = Object.entries(sent).filter(([name]) => name !== 'authorization');
  return Object.fromEntries(headers.map(([name, v]) => [name, name === 'prefer' ? 'wait=1' : v]));
}

let uploadedId = '';

/** Uploads a file in place of the example's file, as a raw body or in a form. */
async function upload(path: string, body: string) {
  const file = new Blob([beginnings['image/png'] as never]);
  const form = new FormData();
  form.append('file', file, 'boat.jpg');
  const reply = await fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.apiKey}` },
    body: body.startsWith('@') ? file : form,
  });
  const json = (await reply.json()) as { id: string; error?: unknown };
  uploadedId = json.id;
  return { status: reply.status, json };
}

test.each(shells)('the example calls in %s are answered as stated', async (_, { text, label }) => {
  const refused = /refused:? (\d{3}) (\w+)/.exec(`${label}\n${text}`);
  for (const { method, path, headers, body } of callsOf(text)) {
    if (!/^\/(v1\/|version|livez|readyz|openapi)/.test(path)) continue;
    const task = (await api.create()).json.id as string;
    if (path.endsWith('{task_id}/content')) await api.finish(task);
    const where = path.replaceAll('{task_id}', task);
    const sent = body
      ?.replaceAll('$SAMPLES', 'http://127.0.0.1:8090/samples')
      .replaceAll('$FILE_ID', uploadedId);
    const reply = sent?.includes('@boat.jpg')
      ? await upload(where, sent)
      : await api.call(method, where, sent, asSent(headers));
    if (refused) {
      expect([reply.status, reply.json.error.code]).toEqual([Number(refused[1]), refused[2]]);
    } else {
      // The error of a failed task has no type. Only the error of a refused call has a type.
      expect([method, where, reply.status, reply.json?.error?.type]).toEqual([
        method,
        where,
        where === '/v1/webhooks' ? 201 : 200,
        undefined,
      ]);
    }
  }
});

test('every example call in docs/api.md is found and sends a key', () => {
  const calls = contract
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => callsOf(text));
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/videos/generations',
    'GET /v1/videos/generations/{task_id}',
    'POST /v1/videos/generations',
    'POST /v1/videos/generations',
    'GET /v1/videos/generations/',
    'GET /v1/videos/generations/{task_id}',
    'DELETE /v1/videos/generations/{task_id}',
    'DELETE /v1/videos/generations/{task_id}/content',
    'GET /v1/callbacks?state=pending,exhausted,stopped',
    'POST /v1/webhooks',
    'POST /v1/files?name=boat.jpg',
    'POST /v1/files',
    'POST /v1/files',
    'POST /v1/videos/generations',
    'GET /v1/tasks?status=submitted&model=studio-2.0&limit=5',
    'GET /v1/tasks?label.order=4711&created_after=1763683200&created_before=1763769600',
  ]);
  for (const { headers } of calls) expect(headers.authorization).toBe('Bearer $API_KEY');
  expect(calls[3]).toMatchObject({ headers: { 'idempotency-key': 'order-4711' } });
});

const readme = existsSync(join(root, 'README.md'))
  ? named(blocksOf(read('README.md')), 'json')
  : [];
if (readme.length > 0) {
  test.each(readme)('the example "%s" in README.md is correct', async (_, { text, label }) => {
    const example = JSON.parse(text);
    if ('error' in example && !('status' in example)) {
      expect(replies.errorSchema.safeParse(example).error).toBeUndefined();
    } else if ('prompt' in example) {
      const { status } = await api.call('POST', create, example);
      expect(status).toBe(/refused/.test(label) ? 400 : 200);
    } else if ('task_id' in example) {
      const schema = 'data' in example ? replies.taskSchema : replies.createdSchema;
      expect(schema.safeParse(example).error).toBeUndefined();
    }
  });
}

describe('the OpenAPI document', () => {
  test.each(Object.entries<RequestExample>(requestExamples))(
    'the example request "%s" is accepted',
    async (_, { body }) => {
      for (const path of [create, '/v1/videos/quotes']) {
        expect((await api.call('POST', path, body)).status).toBe(200);
      }
    },
  );

  test('shows all example requests', async () => {
    const { json } = await api.call('GET', '/openapi.json');
    const shown = json.paths[create].post.requestBody.content['application/json'].examples;
    expect(Object.keys(shown)).toEqual(Object.keys(requestExamples));
    expect((await api.create(textBody)).status).toBe(200);
  });
});
