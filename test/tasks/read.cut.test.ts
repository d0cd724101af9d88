// Cuts the database connection while a call reads, and once more when the read is made again. The call
// is answered from a third connection.

import { setTimeout } from 'node:timers/promises';
import { create, startCutApi, type TestApi } from '../support/api';
import type { Cutter } from '../support/cutter';
import { countStatements } from '../support/database';

let api: TestApi;
let cutter: Cutter;
let taskPath: string;
beforeAll(async () => {
  ({ api, cutter } = await startCutApi());
  taskPath = `${create}/${(await api.create()).json.id}`;
});
afterAll(async () => {
  await api?.close();
  await cutter?.close();
});

describe.each(['before', 'after'] as const)('a connection that is cut %s a statement', (when) => {
  test.each([
    ['find_tasks', () => taskPath],
    ['from transfers', () => '/v1/account/statement'],
    ['from tasks', () => '/v1/tasks'],
  ])('costs no read its answer (%s)', async (statement, path) => {
    const asked = await api.call('GET', path());
    cutter.cutAt(statement, when, 2);
    const { status, json } = await api.call('GET', path());
    expect(cutter.hasCut()).toBe(true);
    expect([status, json]).toEqual([200, asked.json]);
  });

  test('makes no change a second time', async () => {
    cutter.cutAt('find_tasks', when);
    expect((await api.call('DELETE', taskPath)).status).toBe(503);
    expect(cutter.hasCut()).toBe(true);
    expect(api.temporal.cancelled).toEqual([]);
  });
});

test('a cut connection makes no held read longer', async () => {
  /** The number of statements of a held read, which reads once a second. */
  const statementsOf = async (cut: () => void) => {
    const statements = countStatements(api.apiDb);
    const reading = api.call('GET', taskPath, undefined, { prefer: 'wait=4' });
    await setTimeout(3_200);
    cut();
    expect((await reading).status).toBe(200);
    return statements.stop();
  };
  const usual = await statementsOf(() => undefined);
  const cut = await statementsOf(() => cutter.cutAt('find_tasks', 'before'));
  expect(cutter.hasCut()).toBe(true);
  // A wait that began again would read twice as often.
  expect(cut).toBeLessThan(1.5 * usual);
});

test('a held read survives two cuts', async () => {
  const reading = api.call('GET', taskPath, undefined, { prefer: 'wait=7' });
  for (const _ of [1, 2]) {
    await setTimeout(3_000);
    cutter.cutAt('find_tasks', 'before');
  }
  expect((await reading).status).toBe(200);
  expect(cutter.hasCut()).toBe(true);
});
