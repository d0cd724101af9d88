// Tests of the routes that read, cancel and list tasks, and of the route that lists the models. The
// deletion of a task's content is tested in files/content.test.ts.

import { setTimeout } from 'node:timers/promises';
import {
  cancelledSchema,
  modelsSchema,
  taskSchema,
  tasksSchema,
} from '../../src/contract/reply-schema';
import { kindOf } from '../../src/gateway/admit';
import { beginPlacing } from '../../src/jobs/owed.rows';
import { takeSlot } from '../../src/jobs/slots.rows';
import { waitForTurn } from '../../src/jobs/steps.rows';
import type { LiveStage } from '../../src/tasks/task.rules';
import { waitingMessage } from '../../src/tasks/task.rules';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { aJobInput } from '../support/builders';
import { dueCallbacks } from '../support/callbacks';
import { countStatements } from '../support/database';
import { findFunds } from '../support/funds';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(() => {
  api.temporal.reachable = true;
  api.temporal.answer = 'accept';
  api.serving = true;
});
afterEach(() => expect(api.failures).toEqual([]));

const aTask = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await api.create(body)).json.id;
const get = (id: string, headers?: Record<string, string>) =>
  api.call('GET', `${create}/${id}`, undefined, headers);
const withoutRequestId = (text: string) => text.replace(/[0-9a-f-]{36}/g, '');

describe('reading and cancelling a task', () => {
  test.each([
    ['GET', '/v1/videos/generations'],
    ['GET', '/v1/videos/generations/'],
    ['GET', '/v1/video/generations'],
    ['GET', '/v1/video/generations/'],
    ['DELETE', '/v1/videos/generations'],
    ['DELETE', '/v1/video/generations/'],
  ])('%s %s without an id is a 400', async (method, path) => {
    const { status, json } = await api.call(method, path);
    expect(status).toBe(400);
    expect(json.error).toEqual({
      message: 'task_id is required',
      type: 'invalid_request_error',
      param: 'task_id',
      code: 'task_id_required',
    });
  });

  test.each(['GET', 'DELETE'])(
    '%s of another account’s task gets the same 404, byte for byte, as for an unknown task',
    async (method) => {
      const id = await aTask();
      const { apiKey } = await api.anAccount();
      const ask = (path: string) => call(api.url, apiKey, method, path);
      const foreign = await ask(`${create}/${id}`);
      const unknown = await ask(`${create}/task_${'0'.repeat(26)}`);
      const nonsense = await ask(`${create}/..%2f..%2fetc`);
      expect([foreign.status, unknown.status, nonsense.status]).toEqual([404, 404, 404]);
      expect(foreign.json.error).toMatchObject({ type: 'not_found_error', code: 'task_not_found' });
      expect(withoutRequestId(unknown.text)).toBe(withoutRequestId(foreign.text));
      expect(withoutRequestId(nonsense.text)).toBe(withoutRequestId(foreign.text));
      const names = (reply: typeof foreign) =>
        [...reply.headers.keys()].filter((name) => name !== 'date');
      expect(names(unknown)).toEqual(names(foreign));
    },
  );

  test('a finished task of another account is a 404, even just after its owner has read it', async () => {
    const id = await aTask();
    await api.finish(id);
    expect((await get(id)).status).toBe(200);
    const { apiKey } = await api.anAccount();
    expect((await call(api.url, apiKey, 'GET', `${create}/${id}`)).status).toBe(404);
  });

  test('a pending task is shown to its owner only', async () => {
    api.temporal.answer = 'unanswered';
    const { id, status } = (await api.create()).json;
    const { apiKey } = await api.anAccount();
    expect((await get(id)).json.status).toBe(status);
    expect((await call(api.url, apiKey, 'GET', `${create}/${id}`)).status).toBe(404);
  });

  test('the message says if the job of a task waits for a free slot', async () => {
    const taskId = await aTask();
    const order = aJobInput({ taskId, accountId: api.accountId });
    expect(await waitForTurn(api.db, order, ['full'])).toBe(true);
    const { json } = await get(taskId);
    expect(taskSchema.parse(json)).toMatchObject({ status: 'submitted', message: waitingMessage });
    await beginPlacing(api.db, order);
    await takeSlot(api.db, order, { channel: 'full', upstreamModel: 'm' }, null, 'first');
    expect((await get(taskId)).json).toEqual({ ...json, message: 'Task submitted.' });
  });

  describe('if the workflow of a live task answers', () => {
    afterEach(() => {
      api.temporal.tells = () => null;
    });
    const told = (stage: LiveStage, message: string) => {
      api.temporal.tells = async () => ({ stage, message });
    };
    const answerOf = async (id: string) => {
      const { json, headers } = await get(id);
      return [headers.get('x-answered-by'), json.stage ?? json.status, json.message];
    };
    /** The row of the task as if its job had this status. */
    const aTaskWhoseJobIs = async (status: string) => {
      const id = await aTask();
      await api.db('jobs').where({ task_id: id }).update({ status });
      return id;
    };

    test.each([
      ['queued', 'opened', 'submitted'],
      ['running', 'generation', 'generation'],
      ['succeeded', 'storing', 'storing'],
    ] as const)(
      'and is as far as the row of a job that is %s, its message is shown',
      async (status, stage, shown) => {
        const id = await aTaskWhoseJobIs(status);
        told(stage, 'It is busy.');
        expect(await answerOf(id)).toEqual(['workflow', shown, 'It is busy.']);
      },
    );

    test('and is further than the row was, its stage is shown', async () => {
      const id = await aTask();
      told('generation', 'It runs.');
      expect(await answerOf(id)).toEqual(['workflow', 'generation', 'It runs.']);
    });

    test('and is behind the row, the row is shown', async () => {
      const id = await aTaskWhoseJobIs('running');
      told('opened', 'It is being placed.');
      expect(await answerOf(id)).toEqual(['row', 'generation', 'Video generation in progress.']);
    });

    test('and the task has ended meanwhile, the next read shows its end', async () => {
      const id = await aTaskWhoseJobIs('running');
      api.temporal.tells = async () => {
        await api.finish(id);
        return { stage: 'generation', message: 'It runs.' };
      };
      expect(await answerOf(id)).toEqual(['workflow', 'generation', 'It runs.']);
      expect((await answerOf(id)).slice(0, 2)).toEqual(['row', 'failed']);
    });

    test('pending and ended tasks are not asked', async () => {
      const ended = await aTask();
      await api.finish(ended);
      api.temporal.answer = 'unanswered';
      const pending = (await api.create()).json;
      const before = api.temporal.asked.length;
      expect((await answerOf(ended)).slice(0, 2)).toEqual(['row', 'failed']);
      expect((await answerOf(pending.id)).slice(0, 2)).toEqual(['row', pending.status]);
      expect(api.temporal.asked).toHaveLength(before);
    });
  });

  test('each of many concurrent reads gets the task that it asked for', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => aTask()));
    const unknown = `task_${'0'.repeat(26)}`;
    const asked = Array.from({ length: 40 }, () => [...ids, unknown]).flat();
    const replies = await Promise.all(asked.map((id) => get(id)));
    const shown = replies.map(({ status, json }) => (status === 404 ? unknown : json.id));
    expect(shown).toEqual(asked);
  });
});

describe('the state that GET shows', () => {
  test.each(['/v1/videos/generations', '/v1/video/generations'])(
    'GET %s/{id} returns every documented field',
    async (path) => {
      const id = await aTask();
      const { status, json, headers } = await api.call('GET', `${path}/${id}`);
      expect(status).toBe(200);
      expect(taskSchema.parse(json)).toMatchObject({
        id,
        task_id: id,
        status: 'submitted',
        data: [],
      });
      expect(headers.get('retry-after')).toBe('3');
      expect(headers.get('content-type')).toMatch(/^application\/json/);
    },
  );

  test('a finished task gets no Retry-After, and every read of the task returns the same bytes', async () => {
    const id = await aTask();
    await api.finish(id);
    const { json, headers, text } = await get(id);
    expect(json.status).toBe('failed');
    expect(headers.get('retry-after')).toBeNull();
    expect((await get(id)).text).toBe(text);
  });

  test.each(['accept', 'unanswered'] as const)(
    'can be read while Temporal is unreachable (Temporal’s answer to the start: %s)',
    async (answer) => {
      api.temporal.answer = answer;
      const { id, status } = (await api.create()).json;
      api.temporal.reachable = false;
      expect((await get(id)).json.status).toBe(status);
    },
  );

  test('an unknown task is a 404 even while Temporal is unreachable', async () => {
    api.temporal.reachable = false;
    expect((await get(`task_${'1'.repeat(26)}`)).status).toBe(404);
  });
});

describe('Prefer: wait', () => {
  test('holds the reply until the task has ended', async () => {
    const id = await aTask();
    let answered = false;
    const waiting = get(id, { prefer: 'wait=60' }).then((reply) => {
      answered = true;
      return reply;
    });
    // Another read is answered at once, and the first read keeps waiting.
    expect((await get(id)).json.status).toBe('submitted');
    expect(answered).toBe(false);
    await api.finish(id);
    const { json, headers } = await waiting;
    expect(json.status).toBe('failed');
    expect(headers.get('preference-applied')).toBe('wait=60');
  });

  test('many held reads share their statements, about one in a second', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => aTask()));
    const held = Promise.all(ids.map((id) => get(id, { prefer: 'wait=60' })));
    const statementsIn = async (ms: number) => {
      const counted = countStatements(api.apiDb);
      await setTimeout(ms);
      return counted.stop();
    };
    // The first statement of each read is its own, and a busy machine comes to the last one late.
    await until('all reads are held', async () => (await statementsIn(500)) <= 6);
    const statements = await statementsIn(2_500);
    expect(statements).toBeGreaterThanOrEqual(1);
    expect(statements).toBeLessThanOrEqual(6);
    await Promise.all(ids.map((id) => api.finish(id)));
    expect((await held).map(({ json }) => json.status)).toEqual(ids.map(() => 'failed'));
  });

  test('answers with the current state when the wait time is over', async () => {
    const id = await aTask();
    const started = Date.now();
    const { json } = await get(id, { prefer: 'respond-async, wait=1' });
    expect(json.status).toBe('submitted');
    expect(Date.now() - started).toBeGreaterThanOrEqual(900);
  });

  test('ends in time even if the wall clock is set back during the wait', async () => {
    const id = await aTask();
    const waiting = get(id, { prefer: 'wait=1' });
    await get(id);
    api.wallStep = -3_600_000;
    try {
      expect((await waiting).json.status).toBe('submitted');
    } finally {
      api.wallStep = 0;
    }
  });

  test.each([
    ['wait=3600', 'wait=60'],
    ['wait="45"', 'wait=45'],
    ['Wait = 30', 'wait=30'],
    ['return=minimal; wait=7', 'wait=7'],
  ])('the header value %j is applied as %j', async (prefer, applied) => {
    const id = await aTask();
    await api.finish(id);
    expect((await get(id, { prefer })).headers.get('preference-applied')).toBe(applied);
  });

  test.each(['wait=0', 'wait=-5', 'wait=soon', 'wait=1.5', 'await=9', 'return=minimal'])(
    'a read with the header value %j does not wait',
    async (prefer) => {
      const { json, headers } = await get(await aTask(), { prefer });
      expect(json.status).toBe('submitted');
      expect(headers.get('preference-applied')).toBeNull();
    },
  );

  test('a HEAD does not wait, and a path that ends with a slash is a read like the one without', async () => {
    const id = await aTask();
    const headers = { authorization: `Bearer ${api.apiKey}`, prefer: 'wait=60' };
    const head = await fetch(`${api.url}${create}/${id}`, { method: 'HEAD', headers });
    expect([head.status, head.headers.get('preference-applied')]).toEqual([200, null]);
    const kinds = [`${create}/${id}`, `${create}/${id}/`].map((path) =>
      kindOf({ method: 'GET', path }),
    );
    expect(kinds).toEqual(['reads', 'reads']);
  });

  test('a waiting read whose caller has disconnected ends without a failure', async () => {
    const id = await aTask();
    const gone = new AbortController();
    const before = api.requests.length;
    const reading = fetch(`${api.url}${create}/${id}`, {
      headers: { authorization: `Bearer ${api.apiKey}`, prefer: 'wait=60' },
      signal: gone.signal,
    }).catch(() => 'gone');
    await get(id);
    gone.abort();
    expect(await reading).toBe('gone');
    await api.finish(id);
    await until('both reads have ended', () => api.requests.length === before + 2);
  });
});

describe('DELETE', () => {
  test.each(['/v1/videos/generations', '/v1/video/generations'])(
    '%s/{id} requests the cancellation of the task',
    async (path) => {
      const id = await aTask();
      const { status, json } = await api.call('DELETE', `${path}/${id}`);
      expect(status).toBe(200);
      expect(cancelledSchema.parse(json)).toMatchObject({ id, cancel_requested: true });
      expect(api.temporal.cancelled).toContain(id);
    },
  );

  test('of a finished task is a 409 and cancels nothing', async () => {
    const id = await aTask();
    await api.finish(id);
    const { status, json } = await api.call('DELETE', `${create}/${id}`);
    expect([status, json.error.code]).toEqual([409, 'task_already_finished']);
    expect(api.temporal.cancelled).not.toContain(id);
  });

  test('ends a pending task at once and without a charge, even while Temporal is unreachable', async () => {
    const { apiKey, accountId } = await api.anAccount(6_000_000);
    api.temporal.answer = 'unanswered';
    const body = { ...textBody, ratio: '16:9', metadata: { callback_url: 'https://example.com/' } };
    const { json } = await call(api.url, apiKey, 'POST', create, body);
    const ofTask = ({ taskId }: { taskId: string }) => taskId === json.id;
    await until('its start was tried', () => api.temporal.submitted.some(ofTask));
    api.temporal.reachable = false;
    const cancelled = await call(api.url, apiKey, 'DELETE', `${create}/${json.id}`);
    expect(cancelled.json).toMatchObject({
      status: 'failed',
      cancel_requested: true,
      error: { code: 'task_error', message: expect.stringContaining('cancelled by the caller') },
    });
    const read = await call(api.url, apiKey, 'GET', `${create}/${json.id}`);
    expect(read.json).not.toHaveProperty('cancel_requested');
    expect(await dueCallbacks(api.db)).toContain(json.id);
    const again = await call(api.url, apiKey, 'DELETE', `${create}/${json.id}`);
    expect(again.status).toBe(409);
    // A workflow that is started afterwards gets the failed task and holds no money.
    api.temporal.answer = 'accept';
    await api.temporal.submit(api.temporal.submitted.find(ofTask)!);
    expect((await call(api.url, apiKey, 'GET', `${create}/${json.id}`)).json).toEqual(read.json);
    expect((await findFunds(api.db, accountId)).heldMicros).toBe(0);
  });

  test('of a task that ends in another way meanwhile confirms no cancellation', async () => {
    const id = await aTask();
    const spied = jest.spyOn(api.temporal, 'cancel').mockImplementation(async () => {
      await api.finish(id, 'The generator failed.');
      return 'asked';
    });
    const { status, json } = await api.call('DELETE', `${create}/${id}`);
    spied.mockRestore();
    expect([status, json.status]).toEqual([200, 'failed']);
    expect(json).not.toHaveProperty('cancel_requested');
  });

  test('of a task whose video is being stored meanwhile confirms no cancellation', async () => {
    const paths = [create, '/v1/videos', '/api/v3/contents/generations/tasks'];
    const answers = [];
    for (const path of paths) {
      const id = await aTask();
      const spied = jest.spyOn(api.temporal, 'cancel').mockImplementation(async () => {
        await api.db('jobs').where({ task_id: id }).update({ status: 'succeeded' });
        return 'asked';
      });
      const { status, json } = await api.call('DELETE', `${path}/${id}`);
      spied.mockRestore();
      answers.push([status, json.error?.code ?? json.stage]);
      expect(json).not.toHaveProperty('cancel_requested');
    }
    expect(answers).toEqual([
      [200, 'storing'],
      [409, 'task_not_finished'],
      [409, 'InvalidAction'],
    ]);
  });

  test('of a task whose video is being stored requests and confirms no cancellation', async () => {
    const id = await aTask();
    await api.db('jobs').where({ task_id: id }).update({ status: 'succeeded' });
    const { status, json } = await api.call('DELETE', `${create}/${id}`);
    expect([status, json.status, json.stage]).toEqual([200, 'running', 'storing']);
    expect(api.temporal.cancelled).not.toContain(id);
    expect(json).not.toHaveProperty('cancel_requested');
  });

  test('is a 503 if Temporal does not know the workflow of a live task', async () => {
    const id = await aTask();
    const spied = jest.spyOn(api.temporal, 'cancel').mockResolvedValue('gone');
    const { status, headers } = await api.call('DELETE', `${create}/${id}`);
    spied.mockRestore();
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
  });

  test('is a 503 if Temporal does not answer', async () => {
    const id = await aTask();
    api.temporal.reachable = false;
    expect((await api.call('DELETE', `${create}/${id}`)).status).toBe(503);
  });
});

describe('lists of tasks and models', () => {
  test('an account lists its own tasks, newest first, in pages, with filters for status and model', async () => {
    const { apiKey } = await api.anAccount();
    const post = async (body: object) =>
      (await call(api.url, apiKey, 'POST', create, { ...textBody, ...body })).json.id as string;
    const ids = [
      await post({}),
      await post({ model: 'studio-1.0' }),
      await post({}),
      await post({}),
    ];
    await api.finish(ids[0]!);
    const list = async (query: string) => {
      const { json } = await call(api.url, apiKey, 'GET', `/v1/tasks?${query}`);
      const { data, next } = tasksSchema.parse(json);
      return { ids: data.map(({ id }) => id), next };
    };
    const newestFirst = [...ids].reverse();
    expect(await list('')).toEqual({ ids: newestFirst, next: null });
    const first = await list('limit=3');
    expect(first.ids).toEqual(newestFirst.slice(0, 3));
    expect(await list(`limit=3&after=${first.next}`)).toEqual({ ids: [ids[0]], next: null });
    expect((await list('status=failed')).ids).toEqual([ids[0]]);
    expect((await list('model=studio-1.0')).ids).toEqual([ids[1]]);
  });

  test('a list of tasks can be filtered by labels and by time, also across pages', async () => {
    const { apiKey } = await api.anAccount();
    const post = async (labels: Record<string, string>) => {
      const body = { ...textBody, metadata: { labels } };
      return (await call(api.url, apiKey, 'POST', create, body)).json.id as string;
    };
    const ids = [
      await post({ order: '4711', team: 'a' }),
      await post({ order: '4711', team: 'b' }),
      await post({ order: '4712', team: 'a' }),
      await post({ 'a.b-c': 'x y&z' }),
    ];
    await api.finish(ids[0]!);
    const list = async (query: string) => {
      const { json } = await call(api.url, apiKey, 'GET', `/v1/tasks?${query}`);
      return tasksSchema.parse(json).data.map(({ id }) => id);
    };
    expect(await list('label.order=4711')).toEqual([ids[1], ids[0]]);
    expect(await list('label.order=4711&limit=1')).toEqual([ids[1]]);
    expect(await list(`label.order=4711&after=${ids[1]}`)).toEqual([ids[0]]);
    expect(await list('label.team=a&label.order=4711')).toEqual([ids[0]]);
    expect(await list('label.team=a&status=submitted')).toEqual([ids[2]]);
    expect(await list('label.a.b-c=x%20y%26z')).toEqual([ids[3]]);
    expect(await list('label.order=471')).toEqual([]);
    const { json } = await api.call('GET', '/v1/tasks?label.order=4711');
    expect(json.data).toEqual([]);

    const at = async (id: string, seconds: number) => {
      await api.db.raw('update tasks set created_at = to_timestamp(?) where id = ?', [seconds, id]);
    };
    for (const [n, id] of ids.entries()) await at(id, 1_763_712_000 + n);
    expect(await list('created_after=1763712001&created_before=1763712003')).toEqual([
      ids[2],
      ids[1],
    ]);
  });

  test('a task shows its labels before and after it ends', async () => {
    const labels = { order: '4711', '"created_at":0': 'x' };
    expect((await api.create({ metadata: { labels } })).status).toBe(400);
    const own = { order: '"created_at":0', team: 'märkte 🎬' };
    const id = (await api.create({ metadata: { labels: own } })).json.id as string;
    const read = async () => (await api.call('GET', `${create}/${id}`)).json;
    expect(await read()).toMatchObject({ status: 'submitted', labels: own });
    await api.finish(id);
    expect(await read()).toMatchObject({ status: 'failed', labels: own });
    const bare = (await api.create()).json.id as string;
    expect((await api.call('GET', `${create}/${bare}`)).json).not.toHaveProperty('labels');
  });

  test('a list of tasks accepts the extreme values that the API document allows', async () => {
    const query = 'limit=100&created_after=0&created_before=99999999999';
    expect(await api.call('GET', `/v1/tasks?${query}`)).toMatchObject({ status: 200 });
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['limit=', 'limit'],
    ['created_after=', 'created_after'],
    ['after=', 'after'],
    ['order=', 'order'],
    ['status=', 'status'],
    ['model=', 'model'],
    ['status=done', 'status'],
    ['status=%00', 'status'],
    ['model=%00', 'model'],
    ['model=a%20b', 'model'],
    ['after=%00', 'after'],
    ['after=task_x', 'after'],
    ['limit=1e1', 'limit'],
    ['limit=-1', 'limit'],
    ['label.=x', 'label.'],
    ['label.order=', 'label.order'],
    ['label=4711', 'label'],
    ['labels.order=4711', 'labels.order'],
    ['created_afer=1', 'created_afer'],
    ['label.a%00=x', 'label.a\0'],
    ['label.a=%00', 'label.a'],
    [`label.a=${'x'.repeat(65)}`, 'label.a'],
    [Array.from({ length: 17 }, (_, n) => `label.a${n}=x`).join('&'), 'label'],
    ['created_after=yesterday', 'created_after'],
    ['created_before=-1', 'created_before'],
    ['created_before=1763712000000', 'created_before'],
    ['created_before=100000000000', 'created_before'],
  ])('/v1/tasks?%s is a 400 that names %s', async (query, param) => {
    const { status, json } = await api.call('GET', `/v1/tasks?${query}`);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_value', param]);
  });

  test('the refusal of a list names every fault with its parameter', async () => {
    const query =
      'limit=0&order=4711&status=done&sort=4711&created_after=today&created_after=now&label.b=x&label.b=y';
    const { status, json } = await api.call('GET', `/v1/tasks?${query}&label.a=%00`);
    expect([status, json.error.param]).toEqual([400, 'sort']);
    expect(json.error.message.split('\n')).toEqual([
      expect.stringMatching(/^sort: .*label\.NAME/),
      expect.stringMatching(/^limit: .*1 to 100; got "0"/),
      expect.stringMatching(/^order: .*"asc", "desc"; got "4711"/),
      expect.stringMatching(/^status: .*"failed"; got "done"/),
      expect.stringMatching(/^created_after: .*once/),
      expect.stringMatching(/^label\.b: .*once/),
      expect.stringMatching(/^label\.a: .*NUL/),
    ]);
    const statement = await api.call('GET', '/v1/account/statement?limit=0&after=x');
    expect(statement.json.error).toMatchObject({
      param: 'limit',
      message: expect.stringMatching(/^limit: .*got "0"\.\nafter: .*"next".*got "x"\.$/),
    });
  });

  test('another account’s task id in `after` gives the same page as an unknown id', async () => {
    const foreign = await aTask();
    const { apiKey } = await api.anAccount();
    await call(api.url, apiKey, 'POST', create, textBody);
    const page = async (after: string) =>
      (await call(api.url, apiKey, 'GET', `/v1/tasks?after=${after}`)).text;
    expect(await page(foreign)).toBe(await page(`task_${'0'.repeat(26)}`));
  });

  test('a key sees its models with their abilities and prices', async () => {
    const { json } = await api.call('GET', '/v1/models');
    const { data } = modelsSchema.parse(json);
    expect(data.map(({ id }) => id)).toEqual([
      'studio-2.0',
      'studio-2.0-fast',
      'studio-2.0-pro',
      'studio-1.5-pro',
      'studio-1.0',
    ]);
    expect(data[3]).toMatchObject({
      resolutions: ['480p', '720p', '1080p'],
      durations: { min: 4, max: 12, auto: true },
      inputs: { reference_images_max: 1, videos_max: 0, middle_frames: false },
      features: { audio: true, draft: true, last_frame: true, draft_last_frame: false },
      prices: [
        { audio: true, per_million_tokens: '16.000000' },
        { audio: false, per_million_tokens: '8.000000' },
      ],
    });
    expect(data[0]?.plain_video).toEqual({
      ...{ resolution: '720p', ratio: '16:9', duration: 5, currency: 'CNY' },
      ...{ price: '5.009400', price_per_second: '1.001880' },
    });
    const { apiKey } = await api.aKey({ models: ['studio-1.0', 'gone'] });
    const own = await call(api.url, apiKey, 'GET', '/v1/models');
    expect(own.json.data.map(({ id }: { id: string }) => id)).toEqual(['studio-1.0']);
  });

  test('the list of models hides modes and super-resolution that a limited key may not use', async () => {
    const shown = async (limits: { models?: string[]; channels?: string[] }) => {
      const { apiKey } = await api.aKey(limits);
      const { json } = await call(api.url, apiKey, 'GET', '/v1/models');
      const { features, super_resolution } = modelsSchema.parse(json).data[0]!;
      return [features.modes, features.super_resolution, super_resolution !== null];
    };
    expect(await shown({})).toEqual([['fast', 'pro'], true, true]);
    expect(await shown({ models: ['studio-2.0', 'studio-2.0-pro'] })).toEqual([
      ['pro'],
      true,
      true,
    ]);
    expect(await shown({ channels: ['studio'] })).toEqual([['fast', 'pro'], false, false]);
    expect(await shown({ channels: ['studio', 'studio-enhancer'] })).toEqual([
      ['fast', 'pro'],
      true,
      true,
    ]);
    const { apiKey } = await api.aKey({ channels: ['studio-enhancer'] });
    expect((await call(api.url, apiKey, 'GET', '/v1/models')).json).toEqual({ data: [] });
  });
});
