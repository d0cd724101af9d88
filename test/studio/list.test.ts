// Many jobs in one answer: pages, filters, and what is refused.

import { type OpenStudio, openStudio } from './open-studio';

const never = 1_000_000;
let studio: OpenStudio;
/** By what each is, in the order in which they were made. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  studio = await openStudio();
  const jobs: [string, object][] = [
    ['done', {}],
    ['waiting', { studio: { render: 'none', queue_s: never } }],
    ['under way', { studio: { render: 'none', run_s: never } }],
    ['gone wrong', { studio: { render: 'none', end: 'failed' } }],
    ['on the slow tier', { model: 'studio-1.5-pro', service_tier: 'flex' }],
  ];
  for (const [name, body] of jobs) ids[name] = await studio.accepted(body);
  await studio.reaching(ids['gone wrong'] ?? '', 'failed');
});
afterAll(() => studio?.close());

const id = (name: string) => ids[name] ?? name;

test.each<[string, string, string[], number]>([
  [
    'everything, the newest first',
    '',
    ['on the slow tier', 'gone wrong', 'under way', 'waiting', 'done'],
    5,
  ],
  ['the first page', 'page_num=1&page_size=2', ['on the slow tier', 'gone wrong'], 5],
  ['the last page', 'page_num=3&page_size=2', ['done'], 5],
  ['a page beyond the last', 'page_num=500&page_size=500', [], 5],
  ['one status', 'filter.status=succeeded', ['on the slow tier', 'done'], 2],
  ['a status nobody has', 'filter.status=expired', [], 0],
  ['one model', 'filter.model=studio-1.5-pro', ['on the slow tier'], 1],
  ['a model nobody knows', 'filter.model=other', [], 0],
  ['one tier', 'filter.service_tier=flex', ['on the slow tier'], 1],
  ['the other tier', 'filter.service_tier=default&page_size=1', ['gone wrong'], 4],
  ['two filters at once', 'filter.model=studio-2.0&filter.status=running', ['under way'], 1],
])('lists %s', async (_, query, names, total) => {
  const { status, json } = await studio.list(query);
  expect(status).toBe(200);
  expect(json.items.map((item: { id: string }) => item.id)).toEqual(names.map(id));
  expect(json.total).toBe(total);
});

test('lists by ids: each once, unknown ones left out, enhancements never', async () => {
  const enhancement = (await studio.enhance({})).json.task_id;
  const asked = [id('done'), id('waiting'), id('done'), 'cgt-20260101000000-aaaaa', enhancement];
  const query = asked.map((one) => `filter.task_ids=${one}`).join('&');
  const { json } = await studio.list(query);
  expect(json.total).toBe(2);
  expect(json.items.map((item: { id: string }) => item.id).sort()).toEqual(
    [id('done'), id('waiting')].sort(),
  );
});

test('an item of the list is what the job’s own reading says', async () => {
  const { json } = await studio.list(`filter.task_ids=${id('done')}`);
  expect(json.items).toEqual([(await studio.get(id('done'))).json]);
});

test.each([
  ['page_num=0', 'page_num'],
  ['page_num=501', 'page_num'],
  ['page_num=one', 'page_num'],
  ['page_size=0', 'page_size'],
  ['page_size=501', 'page_size'],
  ['page_size=1.5', 'page_size'],
  ['filter.status=submitted', 'filter.status'],
])('%s is refused', async (query, param) => {
  const { status, json } = await studio.list(query);
  expect(status).toBe(400);
  expect(json.error).toMatchObject({ code: 'InvalidParameter', param, type: 'BadRequest' });
});
