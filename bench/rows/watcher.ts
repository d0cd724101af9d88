// Measures the watcher loop with a hundred thousand waiting jobs. The loop, the rows and the list
// requests are real. There is no rendering and no Temporal. First nothing changes. Then a thousand
// jobs end, spread over three poll intervals.

import { join } from 'node:path';
import { startChild } from '../../src/embedded/child';
import { type Finding, lagFindings, type Row } from '../row';
import { inOwnDatabase } from '../support/own-database';
import { coresUsed, figuresOf, pause } from '../support/process-figures';
import { median } from '../support/rounds';
import { type SimulationNews, simulatedChannel } from '../support/watch-simulation';
import type { World } from '../world';

const pollIntervalMs = 3_000;

export const watcherRow: Row = {
  name: 'watcher',
  async measure(world: World): Promise<readonly Finding[]> {
    const { stack, generator, settings } = world;
    const jobs = settings.quick ? 5_000 : 100_000;
    return inOwnDatabase(stack.addresses.databaseUrl, 'bench_watcher', async (db, url) => {
      await db.raw(insertWaiting, { jobs, channel: simulatedChannel });
      await db.raw('vacuum analyze jobs');
      await generator.seed(jobs);
      const notified = new Map<string, number>();
      const rounds: number[] = [];
      const simulation = { databaseUrl: url, listUrl: generator.url, pollIntervalMs };
      const child = startChild(process.execPath, {
        args: [join(__dirname, '..', 'support', 'watch-simulation.js'), JSON.stringify(simulation)],
        env: {},
        onMessage: (message) => {
          const news = message as SimulationNews;
          if (news.kind === 'round') rounds.push(news.ms);
          else if (!notified.has(news.taskId)) notified.set(news.taskId, news.atMs);
        },
      });
      try {
        await untilRound(rounds, child.lastWords);
        rounds.length = 0;
        const before = await generator.counts();
        const pids = [child.pid, generator.pid];
        const idle = await coresUsed(pids, () => pause(settings.quick ? 4_000 : 15_000));
        const { lists } = await generator.counts();
        if (notified.size > 0)
          throw new Error(`${notified.size} tasks were woken while nothing happened.`);
        const { rssBytes } = figuresOf(child.pid);
        const lags = await endSome(world, notified, settings.quick ? 100 : 1_000);
        if (!child.isAlive()) throw new Error(`The watcher ended:\n${child.lastWords()}`);
        return findings(jobs, {
          lists: (lists - before.lists) / idle.seconds,
          cores: idle.cores,
          roundMs: median(rounds),
          rssBytes,
          lags,
        });
      } finally {
        await child.stop('SIGKILL');
      }
    });
  },
};

async function untilRound(rounds: readonly number[], lastWords: () => string): Promise<void> {
  const until = Date.now() + 60_000;
  while (rounds.length === 0) {
    if (Date.now() > until) throw new Error(`No round within a minute:\n${lastWords()}`);
    await pause(100);
  }
}

/** Ends jobs. Returns the sorted milliseconds from the end of each job to the notification. */
async function endSome(
  { generator }: World,
  notified: ReadonlyMap<string, number>,
  count: number,
): Promise<readonly number[]> {
  const ended = new Map<string, number>();
  const batch = Math.max(1, Math.floor(count / 90));
  for (let from = 0; from < count; from += batch) {
    const size = Math.min(batch, count - from);
    // Ends the job of every fifth task, so that the ended jobs are in many lists.
    const ids = Array.from({ length: size }, (_, at) => `task_${1 + (from + at) * 5}`);
    const atMs = await generator.finish(ids);
    for (const id of ids) ended.set(id, atMs);
    await pause(100);
  }
  const until = Date.now() + 60_000;
  while (notified.size < ended.size) {
    if (Date.now() > until)
      throw new Error(`Of ${ended.size} ends ${notified.size} were notified.`);
    await pause(50);
  }
  return [...ended].map(([id, atMs]) => (notified.get(id) ?? 0) - atMs).sort((a, b) => a - b);
}

interface Figures {
  readonly lists: number;
  readonly cores: readonly number[];
  readonly roundMs: number;
  readonly rssBytes: number;
  readonly lags: readonly number[];
}

function findings(jobs: number, figures: Figures): readonly Finding[] {
  const { lists, cores, roundMs, rssBytes, lags } = figures;
  const about = `${jobs.toLocaleString('en')} waiting jobs`;
  const [watcherCores = 0, listCores = 0] = cores;
  const most = jobs / 300;
  return [
    {
      figure: `${about}: list requests upstream`,
      unit: '/s',
      ours: lists,
      wanted: `≤ ${most.toFixed(0)}/s`,
      met: lists <= most,
      note: `one watcher; a round takes ${roundMs.toFixed(0)} ms`,
    },
    {
      figure: `${about}: CPU of the watcher`,
      unit: '% of a core',
      ours: watcherCores * 100,
      note: `and ${(listCores * 100).toFixed(0)} % for the service that lists them`,
    },
    { figure: `${about}: memory of the process`, unit: 'MB', ours: rssBytes / 2 ** 20 },
    ...lagFindings(`${about}: end of a job → its task is woken`, lags, pollIntervalMs),
  ];
}

// Every round asks about jobs that were sent less than 30 minutes ago, so `sent_at` is now. The
// status is already `running`, so the first round finds no changes.
const insertWaiting = `
  with one as (
    insert into accounts (id, name) values ('acct_1', 'bench') returning id
  ), waiting as (
    insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, created_at,
                       deadline_at)
    select 'task_' || n, one.id, 'studio-2.0', '{}', '{}', 'bench', 'bench', now(), now() + interval '2 days'
      from one, generate_series(1, cast(:jobs as int)) n
    returning id
  )
  insert into jobs (task_id, kind, account_id, channel, upstream_model, state, upstream_id, status,
                    sent_at, opened_at)
  select id, 'generation', 'acct_1', :channel, 'bench', 'open', 'cgt-' || id, 'running',
         now(), now()
    from waiting`;
