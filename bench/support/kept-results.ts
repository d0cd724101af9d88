// Compares the cost of 100,000 kept results with the cost of 1,000 kept results. Three things are
// timed: a list of tasks, a claim of due deletions, and a search for old tasks.

import { join } from 'node:path';
import type { Knex } from 'knex';
import { createForgetOld } from '../../activities/reconcile/old-tasks';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { projectFolder } from '../../src/commands/package-info';
import { claimDeletions } from '../../src/files/retention.rows';
import { listTasks } from '../../src/tasks/list.rows';
import { atMost, type Finding } from '../row';
import type { World } from '../world';
import { ledgerTasks } from './ledger-task';
import { writeBooks } from './many-movements';
import { inOwnDatabase } from './own-database';
import { alternate, compare, median, timed } from './rounds';
import { stopping } from './stopping';

const kept = { tasksKeptDays: 400, filesKeptDays: 30 };
const flatMax = 1.1;

/** Each function does its work and returns the time in milliseconds. */
interface Kept {
  readonly list: () => Promise<number>;
  readonly claim: () => Promise<number>;
  readonly pass: () => Promise<number>;
}

export async function keptResults({ stack, settings }: World): Promise<readonly Finding[]> {
  const { databaseUrl } = stack.addresses;
  const [few, many] = [1_000, settings.quick ? 2_000 : 100_000];
  return inOwnDatabase(databaseUrl, 'bench_kept_few', (small) =>
    inOwnDatabase(databaseUrl, 'bench_kept_many', async (large) => {
      const [least, most] = [await resultsKept(small, few), await resultsKept(large, many)];
      const findings: Finding[] = [];
      for (const [name, figure] of [
        ['list', 'a list of ended tasks'],
        ['claim', 'a claim of due deletions'],
        ['pass', 'a pass over the old tasks'],
      ] as const) {
        const found = await alternate(settings.rounds, most[name], least[name]);
        const title = `${figure}, ${many.toLocaleString('en')} kept results against ${few}`;
        findings.push(atMost(title, 'ms', compare(found), flatMax));
      }
      return findings;
    }),
  );
}

async function resultsKept(db: Knex, count: number): Promise<Kept> {
  const catalogue = await readCatalogue(join(projectFolder(), 'catalogue.yaml'), {});
  await writeBooks(db, ledgerTasks(catalogue), { accounts: 1, tasksEach: count });
  await db.raw(`
    insert into files (id, account_id, task_id, role, state, key, link_token, media, content_type,
                       length, expires_at)
    select 'file_' || id, account_id, id, 'video', 'stored', 'results/' || id || '/video', id,
           'video', 'video/mp4', 1, now() + interval '30 days'
      from tasks`);
  await db.raw('vacuum analyze files');
  const page = { accountId: 'acct_1', status: 'succeeded', limit: 20 } as const;
  return {
    list: () => each(100, () => listTasks(db, page)),
    claim: () =>
      each(100, async () => {
        const due = await claimDeletions(db, 4);
        if (due.length > 0) throw new Error(`${due.length} kept results are due.`);
      }),
    pass: () => each(100, () => createForgetOld({ db, stopping }, kept)()),
  };
}

/** Returns the median time of this many calls. */
async function each(calls: number, call: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    took.push(await timed(call));
  }
  return median(took);
}
