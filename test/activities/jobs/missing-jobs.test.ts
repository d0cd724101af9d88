// These tests are about jobs that their provider no longer lists. The watcher's loop runs with a
// real database and a server that plays Ark.

import type { Client } from '@temporalio/client';
import type { JobInput, JobReport } from '../../../src/jobs/job.rules';
import { findJob } from '../../../src/jobs/queries.rows';
import { takeSlot } from '../../../src/jobs/slots.rows';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { type PlayedArk, type PlayedJob, startPlayedArk } from '../../support/played-ark';
import { until } from '../../support/until';
import { startUpstream, type Upstream } from '../../support/upstream';
import { watchWhile } from '../../support/watcher';

/** The parts of one test. The tests mostly wait, so they run at once. */
interface Parts {
  readonly database: TestDatabase;
  readonly upstream: Upstream;
  readonly ark: PlayedArk;
  /** The last report that each task was given. */
  readonly notified: Map<string, JobReport>;
}

const withParts = (run: (its: ReturnType<typeof stepsOf>) => Promise<void>) => async () => {
  const database = await createTestDatabase();
  const ark = await startPlayedArk();
  const upstream = await startUpstream(database.db, (base) => [
    { ...base, baseUrl: ark.url, pollIntervalMs: 50, listLagMs: 300 },
  ]);
  try {
    await run(stepsOf({ database, upstream, ark, notified: new Map() }));
  } finally {
    await upstream.close();
    await ark.close();
    await database.drop();
  }
};

function stepsOf({ database, upstream, ark, notified }: Parts) {
  const client = {
    workflow: { getHandle: () => ({ signal: async () => undefined }) },
    activity: {
      complete: async ({ workflowId }: { workflowId: string }, ended: { report: JobReport }) =>
        void notified.set(workflowId, ended.report),
    },
  };
  const eventsOf = (name: string) =>
    upstream.events.filter((event) => event.name === name).map(({ args }) => args);
  return {
    ...{ database, upstream, ark, notified, eventsOf },
    /** An open job, stored by the provider and by us. */
    async openJob(): Promise<{ input: JobInput; job: PlayedJob }> {
      const input = await upstream.input();
      await upstream.attempt(input);
      return { input, job: ark.jobs.at(-1) as PlayedJob };
    },
    watchDuring: (done: () => Promise<void>) =>
      watchWhile({ ...upstream.deps, client: client as unknown as Client }, done),
    /** The provider has not known the job for an hour. */
    hourPasses: ({ input: { taskId } }: { input: JobInput }) =>
      database.db.raw(
        `update jobs set missing_since = missing_since - interval '1 hour' where task_id = ?`,
        [taskId],
      ),
    lose({ job }: { job: PlayedJob }) {
      ark.jobs = ark.jobs.filter(({ id }) => id !== job.id);
    },
    noticed: ({ input }: { input: JobInput }, outcome = 'noticed') =>
      until(`the job is ${outcome}`, () =>
        eventsOf('jobGone').some(([, task, what]) => task === input.taskId && what === outcome),
      ),
    knownAgain: ({ input }: { input: JobInput }) =>
      until('the job is known again', async () => {
        const row = await findJob(database.db, input);
        return row !== null && row.missingSince === null;
      }),
    /** Tries to take one of the channel's two slots for another job: `taken` or `full`. */
    slotFor: (other: JobInput) =>
      takeSlot(database.db, other, { channel: 'studio', upstreamModel: 'm' }, 2, 'first').then(
        ({ outcome }) => outcome,
      ),
  };
}

test.concurrent(
  'a job that its provider does not list is read by separate requests until the job ends',
  withParts(async ({ ark, eventsOf, notified, openJob, watchDuring }) => {
    const { input, job } = await openJob();
    await openJob();
    ark.order = (jobs) => jobs.filter(({ id }) => id !== job.id);
    await watchDuring(async () => {
      job.status = 'failed';
      await until('its task hears of it', () => notified.get(input.taskId)?.status === 'failed');
    });
    expect(eventsOf('jobGone')).toEqual([]);
  }),
);

test.concurrent(
  'a job that its provider does not know is reported exactly once and loses its slot',
  withParts(
    async ({ database, eventsOf, lose, noticed, openJob, slotFor, upstream, watchDuring }) => {
      const gone = await openJob();
      await openJob();
      const other = await upstream.input();
      await watchDuring(async () => {
        expect(await slotFor(other)).toBe('full');
        lose(gone);
        await noticed(gone);
        expect(await slotFor(other)).toBe('taken');
        const rounds = eventsOf('watchRound').length;
        await until('more rounds were made', () => eventsOf('watchRound').length > rounds + 10);
      });
      expect(eventsOf('jobGone')).toEqual([['studio', gone.input.taskId, 'noticed']]);
      expect((await findJob(database.db, gone.input))?.state).toBe('open');
    },
  ),
);

test.concurrent(
  'a job that is not polled in every round because of its age is noticed too',
  withParts(async ({ database, lose, noticed, openJob, watchDuring }) => {
    const gone = await openJob();
    await openJob();
    await database.db('jobs').update({ opened_at: database.db.raw(`now() - interval '1 hour'`) });
    await watchDuring(async () => {
      lose(gone);
      await noticed(gone);
    });
    expect((await findJob(database.db, gone.input))?.missingSince).not.toBeNull();
  }),
);

test.concurrent(
  'the task of a job that stays missing fails, and the failure is recorded as a fault of the provider',
  withParts(async ({ database, hourPasses, lose, noticed, notified, openJob, watchDuring }) => {
    const gone = await openJob();
    const there = await openJob();
    await watchDuring(async () => {
      lose(gone);
      await noticed(gone);
      await hourPasses(gone);
      await noticed(gone, 'ended');
      await until('its task hears of it', () => notified.has(gone.input.taskId));
    });
    const report = notified.get(gone.input.taskId);
    expect(report).toMatchObject({ status: 'failed', failure: { code: 'job_gone' } });
    expect(report?.failure?.ours).toBeUndefined();
    expect((await findJob(database.db, gone.input))?.state).toBe('reported');
    expect((await findJob(database.db, there.input))?.state).toBe('open');
  }),
);

test.concurrent(
  'a job that its provider knows again gets its slot back',
  withParts(
    async ({
      ark,
      database,
      knownAgain,
      lose,
      noticed,
      openJob,
      slotFor,
      upstream,
      watchDuring,
    }) => {
      const gone = await openJob();
      await openJob();
      await watchDuring(async () => {
        lose(gone);
        await noticed(gone);
        ark.jobs.push(gone.job);
        await knownAgain(gone);
      });
      expect((await findJob(database.db, gone.input))?.missingSince).toBeNull();
      expect(await slotFor(await upstream.input())).toBe('full');
    },
  ),
);

test.concurrent(
  'a channel that lists none of its jobs is reported, and no task ends',
  withParts(
    async ({
      ark,
      eventsOf,
      hourPasses,
      knownAgain,
      noticed,
      notified,
      openJob,
      slotFor,
      upstream,
      watchDuring,
    }) => {
      const jobs = [await openJob(), await openJob()];
      await watchDuring(async () => {
        const { jobs: known } = ark;
        ark.jobs = [];
        await until('it is reported', () => eventsOf('channelBlind').length > 0);
        for (const gone of jobs) {
          await noticed(gone);
          await hourPasses(gone);
        }
        const rounds = eventsOf('watchRound').length;
        await until('more rounds were made', () => eventsOf('watchRound').length > rounds + 40);
        expect(eventsOf('jobGone').map(([, , what]) => what)).toEqual(['noticed', 'noticed']);
        // The missing jobs have no slots, so that a new job can show whether the channel works again.
        expect(await slotFor(await upstream.input())).toBe('taken');
        ark.jobs = known;
        for (const back of jobs) await knownAgain(back);
      });
      expect(notified.size).toBe(0);
    },
  ),
);

test.concurrent(
  'no task ends for a missing job if the provider lists only jobs of other clients',
  withParts(
    async ({ ark, database, eventsOf, hourPasses, lose, noticed, openJob, watchDuring }) => {
      const gone = await openJob();
      await watchDuring(async () => {
        ark.filters = false;
        lose(gone);
        ark.add();
        await noticed(gone);
        await hourPasses(gone);
        const rounds = eventsOf('watchRound').length;
        await until('more rounds were made', () => eventsOf('watchRound').length > rounds + 20);
      });
      expect(eventsOf('jobGone').map(([, , outcome]) => outcome)).toEqual(['noticed']);
      expect((await findJob(database.db, gone.input))?.state).toBe('open');
    },
  ),
);
