// A generator gives wrong answers, and the tests check how each task ends. Each wrong answer must
// have been given. Afterwards each task has one accepted job, and the ledger agrees.

import { type Exchange, type Lie, lies } from '../support/liar';
import { liedToService } from '../support/lied-to-service';
import { textTask } from '../support/service';

const { service, liar, jobsOf, ended } = liedToService({
  catalogue: (url, shipped) => ({
    ...shipped,
    channels: Object.fromEntries(
      Object.entries(shipped.channels).map(([id, channel]) => [
        id,
        {
          ...channel,
          baseUrl: `${url}${new URL(channel.baseUrl).pathname.replace(/\/$/, '')}`,
          requestTimeoutMs: 1_500,
        },
      ]),
    ),
  }),
});

const jobs = '/api/v3/contents/generations/tasks';
const isCreate = ({ method, path }: Exchange) => method === 'POST' && path === jobs;
const isList = ({ method, path }: Exchange) => method === 'GET' && path.startsWith(`${jobs}?`);

/** Changes the succeeded jobs in the first `times` lists that contain such a job. */
function edits(change: (item: Record<string, unknown>) => void, times: number): void {
  let left = times;
  liar().exchanges.length = 0;
  liar().lie = (exchange) => {
    if (!isList(exchange) || left === 0 || !exchange.body.includes('"succeeded"')) return null;
    left -= 1;
    const page = JSON.parse(exchange.body) as { items: Record<string, unknown>[] };
    page.items.filter(({ status }) => status === 'succeeded').forEach(change);
    return { body: JSON.stringify(page) };
  };
}

async function endOf(studio: Record<string, unknown> = {}) {
  const task = await ended(textTask(studio));
  expect(await jobsOf(task.id)).toBe(1);
  return task;
}

const big = Buffer.alloc(9 * 1024 * 1024, 'x');
const page = '<html><body>502 Bad Gateway</body></html>';
const answers: readonly [string, Lie][] = [
  ['an HTML page with 502', { status: 502, headers: { 'content-type': 'text/html' }, body: page }],
  ['an HTML page with 200', { status: 200, body: page }],
  ['truncated JSON', { status: 200, body: '{"id": "cgt-2026' }],
  ['an error object with 200', { body: '{"error":{"code":"InternalServiceError","message":"x"}}' }],
  ['an empty answer', { status: 200, body: '' }],
  ['a list where an object belongs', { status: 200, body: '[]' }],
  ['a body beyond the size limit', { status: 200, body: big }],
  ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' }],
  ['no answer', { instead: 'silence' }],
  ['a cut connection', { instead: 'reset' }],
];

describe('a create of a job', () => {
  test.each(answers)(
    'that is answered with %s leads to one job and a succeeded task',
    async (_, lie) => {
      lies(liar(), isCreate, 1, lie);
      expect(await endOf()).toMatchObject({ status: 'succeeded' });
      expect(liar().exchanges).toHaveLength(1);
    },
  );
});

describe('a list of jobs', () => {
  test.each(answers)('that is answered twice with %s only delays a task', async (_, lie) => {
    lies(liar(), isList, 2, lie);
    expect(await endOf()).toMatchObject({ status: 'succeeded' });
    expect(liar().exchanges).toHaveLength(2);
  });
});

describe('in a list of jobs', () => {
  test('a status that goes back to queued is ignored', async () => {
    edits((item) => {
      item.status = 'queued';
    }, 2);
    expect(await endOf({ run_s: 1 })).toMatchObject({ status: 'succeeded' });
    expect(liar().exchanges).toHaveLength(2);
  });

  test('an unknown status is reported as an event, and the job is read again', async () => {
    edits((item) => {
      item.status = 'almost';
    }, 2);
    expect(await endOf()).toMatchObject({ status: 'succeeded' });
    expect(service().events).toContainEqual({
      name: 'unknownStatus',
      args: ['studio', expect.any(String), 'almost'],
    });
  });

  test('a success without a video makes the task fail without a charge', async () => {
    edits((item) => {
      item.content = {};
    }, Number.POSITIVE_INFINITY);
    expect(await endOf()).toMatchObject({
      status: 'failed',
      error: { code: 'provider_error', message: expect.stringContaining('gave no video') },
      billing: { charged: '0.000000' },
    });
  });

  test.each([
    ['no usage', undefined],
    ['usage that is no number', { completion_tokens: 'many' }],
    ['negative usage', { completion_tokens: -5 }],
    ['more usage than any video has', { completion_tokens: 9_000_000_000_000_000 }],
  ])(
    'a success with %s makes the task succeed, and the whole hold is charged',
    async (_, usage) => {
      edits((item) => {
        item.usage = usage;
      }, Number.POSITIVE_INFINITY);
      const { status, billing } = await endOf();
      expect([status, billing.charged]).toEqual(['succeeded', billing.held]);
      expect(liar().exchanges.length).toBeGreaterThan(0);
    },
  );
});
