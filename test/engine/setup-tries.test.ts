// Tests the setup of schedules and watchers by a worker. The setup is retried until it succeeds.
// The start of the worker waits only for the first try.

import { tryUntilDone } from '../../src/engine/setup';
import { stopping } from '../support/activity-settings';
import { until } from '../support/until';

function failingTimes(times: number) {
  const calls = { made: 0, faults: [] as unknown[] };
  const work = async () => {
    calls.made += 1;
    if (calls.made <= times) throw new Error(`try ${calls.made}`);
  };
  return { calls, work };
}

test('a setup that succeeds at the first try is neither repeated nor logged', async () => {
  const { calls, work } = failingTimes(0);
  await tryUntilDone(work, { pauseMs: 1, stopping, onFault: (e) => calls.faults.push(e) });
  expect(calls).toEqual({ made: 1, faults: [] });
});

test('a failed setup is logged and repeated after a pause until it succeeds', async () => {
  const { calls, work } = failingTimes(3);
  await tryUntilDone(work, { pauseMs: 20, stopping, onFault: (e) => calls.faults.push(e) });
  expect(calls.made).toBe(1);
  await until('a try worked', () => calls.made === 4);
  expect(calls.faults.map(String)).toEqual(['Error: try 1', 'Error: try 2', 'Error: try 3']);
});

test('a setup that fails because the worker stops is neither logged nor repeated', async () => {
  const { calls, work } = failingTimes(9);
  const stopping = AbortSignal.abort();
  await tryUntilDone(work, { pauseMs: 1, stopping, onFault: (e) => calls.faults.push(e) });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(calls).toEqual({ made: 1, faults: [] });
});
