// Tests the list call of the generator: pages, filters and refusals.

import { type OpenStudio, openStudio } from './open-studio';

const never = 1_000_000;
let studio: OpenStudio;
/** Job ids by label, in the order of creation. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  studio = await openStudio();
  const jobs: [string, object][] = [
    ['succeeded', {}],
    ['queued', { studio: { render: 'none', queue_s: never } }],
    ['running', { studio: { render: 'none', run_s: never } }],
    ['failed', { studio: { render: 'none', end: 'failed' } }],
    ['older', { model: 'studio-1.5-pro' }],
  ];
  for (const [name, body] of jobs) ids[name] = await studio.accepted(body);
  await studio.reaching(ids.failed ?? '', 'failed');
});
afterAll(() => studio?.close());

const id = (name: string) => ids[name] ?? name;

test.each<[string, string, string[], number]>([
  ['everything', '', ['older', 'failed', 'running', 'queued', 'succeeded'], 5],
  ['the first page', 'page_num=1&page_size=2', ['older', 'failed'], 5],
  ['the last page', 'page_num=3&page_size=2', ['succeeded'], 5],
  ['a page beyond the last', 'page_num=500&page_size=500', [], 5],
  ['one status', 'filter.status=succeeded', ['older', 'succeeded'], 2],
  ['a status that no job has', 'filter.status=expired', [], 0],
  ['one model', 'filter.model=studio-1.5-pro', ['older'], 1],
  ['an unknown model', 'filter.model=other', [], 0],
  ['two filters at once', 'filter.model=studio-2.0&filter.status=running', ['running'], 1],
])(
  'a list request for %s returns the expected jobs, the newest first',
  async (_, query, names, total) => {
    const { status, json } = await studio.list(query);
    expect(status).toBe(200);
    expect(json.items.map((item: { id: string }) => item.id)).toEqual(names.map(id));
    expect(json.total).toBe(total);
  },
);

test('a list by ids shows each job exactly once, and shows neither unknown ids nor enhancements', async () => {
  const enhancement = (await studio.enhance({})).json.task_id;
  const asked = [
    id('succeeded'),
    id('queued'),
    id('succeeded'),
    'cgt-20260101000000-aaaaa',
    enhancement,
  ];
  const query = asked.map((one) => `filter.task_ids=${one}`).join('&');
  const { json } = await studio.list(query);
  expect(json.total).toBe(2);
  expect(json.items.map((item: { id: string }) => item.id).sort()).toEqual(
    [id('succeeded'), id('queued')].sort(),
  );
});

test('the list shows each job exactly as a GET of this job does', async () => {
  const { json } = await studio.list(`filter.task_ids=${id('succeeded')}`);
  expect(json.items).toEqual([(await studio.get(id('succeeded'))).json]);
});

test.each([
  ['page_num=0', 'page_num'],
  ['page_num=501', 'page_num'],
  ['page_num=one', 'page_num'],
  ['page_size=0', 'page_size'],
  ['page_size=501', 'page_size'],
  ['page_size=1.5', 'page_size'],
  ['filter.status=submitted', 'filter.status'],
])('a list with %s is refused', async (query, param) => {
  const { status, json } = await studio.list(query);
  expect(status).toBe(400);
  expect(json.error).toMatchObject({ code: 'InvalidParameter', param, type: 'BadRequest' });
});
