// Asking live workflows how they are, within a budget: so many queries in flight, one
// at a time per task, an answer shared for up to a second. Whatever does not fit is answered from
// the stored row instead.

import type { Client } from '@temporalio/client';
import { taskQuery } from '../workflows/messages';
import type { TaskObject } from './contract/task';

interface QueryBudget {
  readonly queriesInFlightMax: number;
  readonly onQuery?: (outcome: 'answered' | 'shared' | 'over_budget' | 'failed') => void;
}

interface Answer {
  readonly object: TaskObject;
  readonly rowVersion: number;
  readonly until: number;
}

const sharedForMs = 1_000;
// After a failure nobody is asked for a moment: with all workers down every GET would wait for the
// deadline.
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
      answers.set(taskId, { object, rowVersion, until: Date.now() + sharedForMs });
      onQuery?.('answered');
      return object;
    } catch {
      restUntil = Date.now() + restMs;
      onQuery?.('failed');
      return null;
    } finally {
      inFlight.delete(taskId);
    }
  };

  return async (taskId, rowVersion) => {
    const now = Date.now();
    const known = answers.get(taskId);
    // A shared answer counts only while the row has not moved on.
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
