// Asks the workflows of live tasks for their state, within a budget. The stored row answers every
// read that gets no answer here: over the budget, too late, without a worker or without Temporal.

import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type ToldTask, taskQuery } from '../../workflows/messages';

// A query costs a worker about as much as a step of a task. With this budget, reads take at most a
// few per cent of the queries that one worker can answer.
const inFlightMax = 2;
const perSecondMax = 20;
/** The longest time for which a read waits for the workflow. */
export const queryLimitMs = 250;
// A task is asked at most once in this time, whether it answered or not. All reads share the answer.
const sharedForMs = 1_000;

/** Returns null if the workflow cannot be asked now, or does not answer in time. */
export type AskTask = (taskId: string) => Promise<ToldTask | null> | null;

export function createTaskQueries(client: Client): AskTask {
  const answers = new Map<string, { answer: Promise<ToldTask | null>; until: number }>();
  let inFlight = 0;
  let second = { from: Number.NEGATIVE_INFINITY, count: 0 };

  const take = (now: number): boolean => {
    if (now - second.from >= 1_000) second = { from: now, count: 0 };
    if (inFlight >= inFlightMax || second.count >= perSecondMax) return false;
    second.count += 1;
    inFlight += 1;
    return true;
  };
  const ask = async (taskId: string): Promise<ToldTask | null> => {
    try {
      return await client.workflow.getHandle(taskId).query<ToldTask>(taskQuery);
    } catch {
      return null;
    } finally {
      inFlight -= 1;
    }
  };
  return (taskId) => {
    const now = performance.now();
    const known = answers.get(taskId);
    if (known && known.until > now) return known.answer;
    if (!take(now)) return null;
    for (const [id, { until }] of answers) if (until <= now) answers.delete(id);
    // Between its tries the client may wait longer than the deadline of the call.
    const late = setTimeout(queryLimitMs, null, { ref: false });
    const answer = Promise.race([ask(taskId), late]);
    answers.set(taskId, { answer, until: now + sharedForMs });
    return answer;
  };
}
