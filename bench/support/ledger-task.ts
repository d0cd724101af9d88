// Makes the arguments of a task's three transactions: create, open and close. The plan, the task
// object and the bill are made by the service's own code.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseRequest } from '../../src/contract/parse-request';
import { planTask } from '../../src/planning/plan.rules';
import { billing, settlementFor } from '../../src/planning/pricing.rules';
import { taskObject } from '../../src/tasks/task.rules';
import type { CloseTask, NewTask, TaskInput } from '../../src/tasks/task-transactions.rules';

export interface LedgerTask {
  readonly create: NewTask;
  readonly open: TaskInput;
  readonly close: CloseTask;
}

/** A task of five seconds in 720p. It costs less than its hold, so it has three movements. */
export function ledgerTasks(catalogue: Catalogue): (id: string, accountId: string) => LedgerTask {
  const body = {
    model: 'studio-2.0',
    prompt: 'A paper boat sails down a rainy street, evening light',
    resolution: '720p',
    ratio: '16:9',
    duration: 5,
  };
  const { request } = parseRequest(body);
  const { plan } = planTask(request, catalogue, { seed: 1 });
  if (!plan) throw new Error('The bench’s own request was refused.');
  const usage = { completion_tokens: 100_000, total_tokens: 100_000 };
  const lines = settlementFor(plan, { completionTokens: 100_000, outputMilliseconds: null });
  const createdAtMs = Date.now();
  const createdAt = Math.floor(createdAtMs / 1_000);
  return (id, accountId) => {
    const task = { taskId: id, accountId, plan, traceId: 'bench' };
    const times = { createdAtMs, deadlineAtMs: createdAtMs + 172_800_000 };
    const identity = { id, traceId: 'bench', model: plan.model, createdAt };
    const succeeded = taskObject(identity, {
      status: 'succeeded',
      finishedAt: createdAt + 60,
      video: { url: `https://media.example.com/${id}.mp4`, resolution: '720p', ratio: '16:9' },
      durationSeconds: 5,
      seed: 1,
      usage,
      billing: billing(plan, { lines, final: true }),
    });
    const heldMicros = plan.hold.amountMicros;
    return {
      create: { ...task, keyId: 'key_bench', request, requestHash: 'bench' },
      open: { ...task, ...times, labels: null },
      close: { taskId: id, object: succeeded, heldMicros, charge: lines },
    };
  };
}
