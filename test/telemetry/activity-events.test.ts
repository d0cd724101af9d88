// Tests that the log lines of the activities contain the reason of a failed job.

import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';
import { createEvents } from '../../src/worker/activity-events';

test('the log lines of a refused create and of a failed job have the code of the provider, and the line of the create also has the field', () => {
  const lines: unknown[] = [];
  const output = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ level: 'info', format: 'json', name: 'worker' }, output);
  const events = createEvents(log, createMeters('worker'));
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
