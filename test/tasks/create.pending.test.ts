// Tests of creates while Temporal does not answer, or answers late. No create waits for it. The word
// that a create answered stays true for reads, until more is known.

import { create, startApi, type TestApi } from '../support/api';
import { until } from '../support/until';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(() => {
  api.temporal.answer = 'accept';
  api.temporal.gate = undefined;
});
afterEach(() => expect(api.failures).toEqual([]));

/** Lets no start be answered until the returned function is called. */
function freezeTemporal(): () => void {
  let thaw = () => {};
  api.temporal.gate = new Promise((resolve) => {
    thaw = () => {
      api.temporal.gate = undefined;
      resolve();
    };
  });
  return thaw;
}

/** Lets the API treat Temporal as away. Returns the ids of the tasks that were not started. */
async function withTemporalAway(): Promise<string[]> {
  api.temporal.answer = 'unanswered';
  const ids: string[] = [];
  for (;;) {
    const { status, json } = await api.create();
    expect(status).toBe(200);
    ids.push(json.id);
    if (json.status === 'pending') return ids;
  }
}

const read = async (id: string) => (await api.call('GET', `${create}/${id}`)).json;
const listed = async (status: string): Promise<string[]> => {
  const { json } = await api.call('GET', `/v1/tasks?status=${status}&limit=100`);
  return json.data.map(({ id }: { id: string }) => id);
};

test('a create is answered although the start of its workflow is never answered', async () => {
  const thaw = freezeTemporal();
  const before = api.temporal.submitted.length;
  const replies = await Promise.all(Array.from({ length: 20 }, () => api.create()));
  for (const { status, json } of replies) {
    expect([status, json.status, json.message]).toEqual([200, 'submitted', 'Task submitted.']);
  }
  await until('starts wait', () => api.temporal.submitted.length > before);
  const { rows } = await api.db.raw(
    `select count(*)::int as opened from tasks where state = 'open'`,
  );
  expect(rows[0].opened).toBe(0);
  thaw();
});

test('a task that was answered as submitted is shown so, without a bill until its hold is taken', async () => {
  const thaw = freezeTemporal();
  const { id } = (await api.create()).json;
  const waiting = await read(id);
  expect([waiting.status, waiting.billing]).toEqual(['submitted', undefined]);
  expect(await listed('submitted')).toContain(id);
  expect(await listed('pending')).not.toContain(id);
  thaw();
  await until('it is opened', async () => (await read(id)).billing !== undefined);
  expect((await read(id)).status).toBe('submitted');
  expect(await listed('submitted')).toContain(id);
});

test('while Temporal is away, a create is answered as pending, and is shown so until it is opened', async () => {
  const ids = await withTemporalAway();
  const id = ids.at(-1) as string;
  const headers = { 'idempotency-key': 'told-pending' };
  const keyed = await api.create({}, headers);
  expect([keyed.json.status, keyed.json.message]).toEqual([
    'pending',
    'Task accepted, waiting to be started.',
  ]);
  expect((await api.create({}, headers)).json).toEqual(keyed.json);
  for (let n = 0; n < 3; n += 1) expect((await read(id)).status).toBe('pending');
  expect(await listed('pending')).toEqual(expect.arrayContaining([id, keyed.json.id]));
  expect(await listed('submitted')).not.toContain(id);
  // The tasks that were answered before Temporal counted as away keep their word.
  for (const earlier of ids.slice(0, -1)) expect((await read(earlier)).status).toBe('submitted');
  api.temporal.answer = 'accept';
  await until('it is opened', async () => (await read(id)).status === 'submitted');
  for (const one of [...ids, keyed.json.id]) {
    await until('all are opened', async () => (await read(one)).billing !== undefined);
  }
  await until('creates say so', async () => (await api.create()).json.status === 'submitted');
});

test('a task that waits for its start can be cancelled, whatever its create answered', async () => {
  const thaw = freezeTemporal();
  const asked = api.temporal.cancelled.length;
  const { id } = (await api.create()).json;
  const cancelled = await api.call('DELETE', `${create}/${id}`);
  expect([cancelled.status, cancelled.json.status]).toEqual([200, 'failed']);
  expect(api.temporal.cancelled).toHaveLength(asked);
  thaw();
  await until('its start was answered', async () => {
    const { rows } = await api.db.raw('select pending_tasks from balances where account_id = ?', [
      api.accountId,
    ]);
    return rows[0].pending_tasks === 0;
  });
  expect((await read(id)).status).toBe('failed');
});
