// Tests that the log lines of the activities contain the reason of a failed job, and that a charge
// above the hold is reported.

import { createEvents } from '../../src/engine/activity-events';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';

function recorded() {
  const lines: unknown[] = [];
  const output = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ level: 'info', format: 'json', name: 'worker' }, output);
  const meters = createMeters('worker');
  return { lines, meters, events: createEvents(log, meters) };
}

test('the log lines of a refused create and of a failed job have the code of the provider, and the line of the create also has the field', () => {
  const { lines, events } = recorded();
  const job = { channel: 'studio', taskId: 'task_1' };
  const refused = { outcome: 'caller', code: 'InvalidParameter', param: 'studio.rnder' };
  events.upstream({ ...job, operation: 'create', ms: 1, ...refused });
  const failed = { status: 'failed', code: 'OutputVideoSensitiveContentDetected' };
  events.jobChanged({ ...job, kind: 'generation', seconds: 1, ...failed });
  expect(lines).toEqual([
    expect.objectContaining({ event: 'upstream', level: 'warn', task: 'task_1', ...refused }),
    expect.objectContaining({ event: 'job_changed', level: 'info', task: 'task_1', ...failed }),
  ]);
});

test('a charge above the hold is counted by model and logged as a warning with the amount above the hold', async () => {
  const { lines, meters, events } = recorded();
  const end = {
    traceId: 'trace',
    model: 'm',
    status: 'succeeded',
    seconds: 9,
    usageMissing: false,
  };
  const line = { kind: 'generation', quantity: 1, unitPriceMicros: 1 } as const;
  const close = (taskId: string, amountMicros: number) =>
    events.taskClosed({
      ...end,
      taskId,
      heldMicros: 5_009_400,
      charge: [{ ...line, amountMicros }],
    });
  close('task_1', 5_009_400);
  close('task_2', 5_009_400_000);
  expect(lines).toEqual([
    expect.objectContaining({ event: 'task_closed', level: 'info', task: 'task_1' }),
    expect.objectContaining({
      event: 'task_closed',
      level: 'warn',
      task: 'task_2',
      aboveHold: 5_004.3906,
    }),
  ]);
  const counted = await meters.registry.getSingleMetric('video_charged_above_hold_total')?.get();
  expect(counted?.values).toEqual([
    expect.objectContaining({ labels: expect.objectContaining({ model: 'm' }), value: 1 }),
  ]);
});
