// Queries live workflows within a budget: a maximum of queries in flight, one at a time per task,
// and answers shared for up to a second. If a query does not fit into it, null is returned and the
// stored row is used.

import type { Client } from '@temporalio/client';
import { taskQuery } from '../../workflows/messages';
import type { TaskObject } from '../contract/task';

interface QueryBudget {
  readonly queriesInFlightMax: number;
  readonly onQuery?: (outcome: 'answered' | 'shared' | 'over_budget' | 'failed') => void;
}

interface Answer {
  readonly object: TaskObject;
  readonly rowVersion: number;
  /** By a monotonic clock. */
  readonly until: number;
}

const sharedForMs = 1_000;
// After a failed query none is sent for this long. If all workers are down, each GET would
// otherwise wait for the time limit.
const restMs = 1_000;
const answersMax = 20_000;

export function createTaskQueries(
  client: Client,
  { queriesInFlightMax, onQuery }: QueryBudget,
): (taskId: string, rowVersion: number) => Promise<TaskObject | null> {
  const answers = new Map<string, Answer>();
  const inFlight = new Map<string, Promise<TaskObject | null>>();
  let restUntil = 0;

  const ask = async (taskId: string, rowVersion: number): Promise<TaskObject | null> => {
    try {
      const object = await client.workflow.getHandle(taskId).query<TaskObject>(taskQuery);
      if (answers.size >= answersMax) answers.clear();
      answers.set(taskId, { object, rowVersion, until: performance.now() + sharedForMs });
      onQuery?.('answered');
      return object;
    } catch {
      restUntil = performance.now() + restMs;
      onQuery?.('failed');
      return null;
    } finally {
      inFlight.delete(taskId);
    }
  };

  return async (taskId, rowVersion) => {
    const now = performance.now();
    const known = answers.get(taskId);
    // A shared answer is valid only until the row changes.
    if (known && known.until > now && known.rowVersion === rowVersion) {
      onQuery?.('shared');
      return known.object;
    }
    answers.delete(taskId);
    const asked = inFlight.get(taskId);
    if (asked) return asked;
    if (inFlight.size >= queriesInFlightMax || now < restUntil) {
      onQuery?.('over_budget');
      return null;
    }
    const answer = ask(taskId, rowVersion);
    inFlight.set(taskId, answer);
    return answer;
  };
}
