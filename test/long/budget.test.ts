// A budget is exact across API processes. Many simultaneous creates go to two processes, and only
// as many are accepted as the budget allows.

import { parseAmount } from '../../src/accounts/amount.rules';
import { listBudgets, setBudget } from '../../src/accounts/budgets.rows';
import { pause } from '../chaos/client';
import { startWorld, type World } from '../chaos/world';
import { call, textTask } from '../support/service';

let world: World;
beforeAll(async () => {
  world = await startWorld({ apis: 2, workers: 1 });
});
afterAll(() => world?.close());

test('a budget for 10 tasks accepts exactly 10 of 100 simultaneous creates through two API processes', async () => {
  const { apis, apiKey, accountId, db } = world;
  const post = (n: number, path: string, body: unknown, headers = {}) =>
    call(apis[n % apis.length] ?? '', apiKey, 'POST', path, body, headers);
  // The task runs for long, because a settlement below its hold would make room for another task.
  const task = textTask({ run_s: 600 });
  const { micros = 0 } = parseAmount((await post(0, '/v1/videos/quotes', task)).json.hold);
  expect(micros).toBeGreaterThan(0);
  const limitMicros = 11 * micros - 1;
  await setBudget(db, { accountId, keyId: null, period: 'month', limitMicros });

  const path = '/v1/videos/generations';
  /** Repeats a create that waited too long for the budget's lock, as callers do on a busy machine. */
  const create = async (n: number) => {
    for (;;) {
      const reply = await post(n, path, task, { 'idempotency-key': `create-${n}` });
      if (reply.status !== 503) return reply;
      await pause(100);
    }
  };
  const replies = await Promise.all(Array.from({ length: 100 }, (_, n) => create(n)));
  const accepted = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status === 402);
  expect([accepted.length, refused.length]).toEqual([10, 90]);
  expect(new Set(refused.map(({ json }) => json.error.code))).toEqual(new Set(['budget_exceeded']));
  const [budget] = await listBudgets(db, accountId);
  expect(budget).toMatchObject({ spentMicros: 0, heldMicros: 10 * micros });
  expect(await world.unexplained()).toEqual([]);
});
