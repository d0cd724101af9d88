// Places many tasks at a provider that has many faults at once: lost replies, cut creates, shifting
// pages, models listed in place of endpoint ids, and jobs that are listed field by field. Each job
// must be created only once, however often its task is retried.

import type { JobInput } from '../../../src/jobs/job.rules';
import { createTestDatabase } from '../../support/database';
import { type PlayedArk, type PlayedJob, startPlayedArk } from '../../support/played-ark';
import { sized } from '../../support/sized';
import { startUpstream } from '../../support/upstream';

interface Placements {
  readonly tasks: number;
  readonly attempts: number;
  readonly lostReplies: number;
  readonly cutBefore: number;
  /** Number of tasks that failed because their create stayed unclear. */
  readonly rejected: number;
  readonly adoptedWrongJob: number;
  readonly placedTwice: number;
}

const atOnce = 64;
// The retries are like those of the workflow's policy, with shorter pauses.
const gapMaxMs = 15_000;
const shrinksEveryMs = 30_000;

async function placeMany(tasks: number): Promise<Placements> {
  const database = await createTestDatabase(20);
  const ark = await startPlayedArk();
  const upstream = await startUpstream(
    database.db,
    (base) => [
      { ...base, baseUrl: ark.url, honoursIdempotencyKey: false, requestTimeoutMs: 20_000 },
    ],
    'ep-20260101000000-abcde',
  );
  const counts = { tasks, attempts: 0, lostReplies: 0, cutBefore: 0, rejected: 0, wrong: 0 };
  spoil(ark, counts);
  const waiting = Array.from({ length: tasks }, (_, n) => n);
  const made: JobInput[] = [];
  let placedCount = 0;
  const placer = async () => {
    while (waiting.pop() !== undefined) {
      const input = await upstream.input();
      made.push(input);
      const placed = await attemptUntilClear(() => {
        counts.attempts += 1;
        return upstream.attempt(input);
      });
      if (placed.outcome !== 'open') counts.rejected += 1;
      else if (seedOf(ark, placed.upstreamId) !== input.plan.seed) counts.wrong += 1;
      placedCount += 1;
      if (placedCount % 250 === 0)
        process.stderr.write(`${placedCount} ${JSON.stringify(counts)}\n`);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, placer));
    const placedTwice = made.filter(({ taskId }) => (ark.creates.get(taskId) ?? 0) > 1).length;
    const { wrong, ...rest } = counts;
    return { ...rest, adoptedWrongJob: wrong, placedTwice };
  } finally {
    await upstream.close();
    await ark.close();
    await database.drop();
  }
}

function seedOf(ark: PlayedArk, upstreamId: string): unknown {
  return ark.jobs.find(({ id }) => id === upstreamId)?.seed;
}

async function attemptUntilClear<T>(attempt: () => Promise<T>): Promise<T> {
  for (let gapMs = 500; ; gapMs = Math.min(gapMs * 2, gapMaxMs)) {
    try {
      return await attempt();
    } catch (error) {
      const wanted = Number((error as { nextRetryDelay?: unknown }).nextRetryDelay ?? 0);
      const pauseMs = Math.max(wanted, gapMs * (0.5 + Math.random()));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Adds the faults. One create in ten loses its reply; one in twenty never arrives. */
function spoil(ark: PlayedArk, counts: { lostReplies: number; cutBefore: number }): void {
  ark.onCreate = () => {
    const drawn = Math.random();
    if (drawn < 0.1) {
      counts.lostReplies += 1;
      return 'lose the reply';
    }
    if (drawn >= 0.15) return 'answer';
    counts.cutBefore += 1;
    return 'cut before';
  };
  const foreign: PlayedJob[] = [];
  let deletedAt = performance.now();
  ark.onPage = () => {
    const drawn = Math.random();
    if (drawn < 0.05) foreign.push(ark.add());
    // A list that shrinks during a read proves nothing. If every read shrank, no lost create would
    // ever be sent again.
    const isQuiet = performance.now() - deletedAt < shrinksEveryMs;
    if (drawn < 0.95 || isQuiet) return;
    deletedAt = performance.now();
    const deleted = foreign.pop();
    ark.jobs = ark.jobs.filter((job) => job !== deleted);
  };
  // One job in five is listed step by step: first its id, then its creation time, then its seed.
  ark.echo = (job) => {
    const age = Date.now() / 1000 - job.created_at;
    const isLate = Number(job.id.split('-')[1]) % 5 === 0;
    const { id, status, created_at } = job;
    if (isLate && age < 2) return { id, status };
    if (isLate && age < 4) return { id, status, created_at };
    return job;
  };
}

test('no job is created twice if replies are lost, pages shift and jobs are listed late', async () => {
  const tasks = sized({ each: 120, long: Number(process.env.PLACED_ONCE_TASKS ?? 5_000) });
  const placed = await placeMany(tasks);
  expect(placed.lostReplies + placed.cutBefore).toBeGreaterThan(0);
  expect(placed).toMatchObject({
    ...{ tasks, placedTwice: 0, adoptedWrongJob: 0 },
    // Among thousands of tasks, the create of some may stay unclear.
    ...sized({ each: { rejected: 0 }, long: {} }),
  });
}, 2_400_000);
