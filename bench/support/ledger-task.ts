// What the two doors are given, as a task's workflow would give it: a real plan, the row a caller
// would see, a bill.

import { parseRequest } from '../../src/contract/parse-request';
import type { Catalogue } from '../../src/domain/catalogue';
import { planTask } from '../../src/domain/plan';
import { billing, settlementFor } from '../../src/domain/pricing';
import { taskObject } from '../../src/domain/task';
import type { CloseTask, OpenTask } from '../../workflows/messages';

export interface LedgerTask {
  readonly open: OpenTask;
  readonly close: CloseTask;
}

/** Five seconds of 720p; a little less is used than was held, so that it moves three times. */
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
    const waits = 'in activities' as const;
    const hashes = { requestHash: 'bench', traceId: 'bench' };
    const input = { taskId: id, accountId, request, plan, waits, ...hashes };
    const identity = { id, traceId: 'bench', model: plan.model, createdAt };
    const submitted = taskObject(identity, {
      status: 'submitted',
      billing: billing(plan, { lines: [], final: false }),
    });
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
      open: { input, object: submitted, createdAtMs, deadlineAtMs: createdAtMs + 172_800_000 },
      close: { taskId: id, object: succeeded, heldMicros, charge: lines },
    };
  };
}
