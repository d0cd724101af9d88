// Scripted faults of the list call: late, missing, renamed, reordered and shifted jobs.

import { useClock } from './clock';
import { type OpenStudio, openStudio } from './open-studio';

const clock = useClock();
let studio: OpenStudio;
beforeEach(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.close());

const script = (directions: object) => studio.call('POST', '/admin/script', directions);
const jobs = async (count: number) => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.unshift(await studio.accepted({}));
  return ids;
};
const idsOf = ({ json }: { json: { items: { id: string }[] } }) => json.items.map(({ id }) => id);

test('empty answers with an empty list', async () => {
  await jobs(2);
  await script({ list: { empty: true } });
  expect((await studio.list('')).json).toEqual({ items: [], total: 0 });
});

test('items_max caps the page below the size asked for, and total stays true', async () => {
  const ids = await jobs(5);
  await script({ list: { items_max: 2 } });
  const first = await studio.list('page_size=100');
  expect(first.json.total).toBe(5);
  expect(idsOf(first)).toEqual(ids.slice(0, 2));
  expect(idsOf(await studio.list('page_size=100&page_num=3'))).toEqual(ids.slice(4));
});

test('page_shift repeats jobs between pages, or leaves some out', async () => {
  const ids = await jobs(6);
  await script({ list: { page_shift: -1 } });
  expect(idsOf(await studio.list('page_size=2&page_num=1'))).toEqual(ids.slice(0, 2));
  expect(idsOf(await studio.list('page_size=2&page_num=2'))).toEqual(ids.slice(1, 3));
  await script({ list: { page_shift: 1 } });
  expect(idsOf(await studio.list('page_size=2&page_num=2'))).toEqual(ids.slice(3, 5));
});

test('order sorts oldest first, or shuffles', async () => {
  const ids = await jobs(12);
  await script({ list: { order: 'oldest' } });
  expect(idsOf(await studio.list('page_size=50'))).toEqual(ids.toReversed());
  await script({ list: { order: 'shuffled' } });
  const shuffled = idsOf(await studio.list('page_size=50'));
  expect(shuffled).not.toEqual(ids);
  expect(shuffled.toSorted()).toEqual(ids.toSorted());
  expect(idsOf(await studio.list('page_size=50'))).toEqual(shuffled);
});

test('listed_after_s hides a young job from the list, but not from a reading by id', async () => {
  const late = await studio.accepted({ studio: { render: 'none', listed_after_s: 100 } });
  const [other] = await jobs(1);
  expect(idsOf(await studio.list(''))).toEqual([other]);
  expect(idsOf(await studio.list(`filter.task_ids=${late}`))).toEqual([]);
  expect((await studio.get(late)).status).toBe(200);
  clock.advance(101_000);
  expect(idsOf(await studio.list(''))).toEqual([other, late]);
});

test('field_every_s makes the fields of an item appear one by one', async () => {
  const id = await studio.accepted({ studio: { render: 'none', queue_s: 100_000 } });
  await script({ list: { field_every_s: 10 } });
  const fields = async () => Object.keys((await studio.list('')).json.items[0]).sort();
  const all = Object.keys((await studio.get(id)).json).sort();
  expect(await fields()).toEqual(['created_at', 'id', 'status']);
  clock.advance(11_000);
  expect(await fields()).toEqual(['created_at', 'id', 'model', 'status']);
  clock.advance(10_000);
  expect(await fields()).toHaveLength(5);
  clock.advance(1_000_000);
  expect((await fields()).sort()).toEqual(expect.arrayContaining(all));
});

test('endpoints accepts an endpoint id and answers with the name of its model', async () => {
  await script({ endpoints: { 'ep-20260101-abcde': 'studio-2.0' } });
  const id = await studio.accepted({ model: 'ep-20260101-abcde' });
  expect((await studio.get(id)).json.model).toBe('studio-2.0');
  expect((await studio.list('')).json.items[0].model).toBe('studio-2.0');
  expect((await studio.create({ model: 'ep-other' })).status).toBe(404);
});

test.each<[object, string]>([
  [{ list: { emtpy: true } }, 'script.list.emtpy'],
  [{ list: { order: 'random' } }, 'script.list.order'],
  [{ endpoints: { 'ep-1': 7 } }, 'script.endpoints.ep-1'],
])('%j is refused', async (directions, param) => {
  const { status, json } = await script(directions);
  expect({ status, param: json.error.param }).toEqual({ status: 400, param });
});
