// The deletion of old tasks: its rate among more than a million rows, and what a quiet account notices of
// it. Then what 100,000 kept results cost, compared with 1,000: a list, a run over the storage, and a
// pass over the old tasks. The bench fails if an old task stays or the books do not agree.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { removeExpired } from '../../activities/reconcile/expired-files';
import { createDeleteOld } from '../../activities/reconcile/old-tasks';
import { createRemoveUnknown } from '../../activities/reconcile/unknown-objects';
import { loadCatalogue } from '../../src/catalogue/catalogue-file';
import { projectFolder } from '../../src/commands/package-info';
import { setTerms } from '../../src/db/account-terms';
import { audit } from '../../src/db/ledger-audit';
import { listTasks } from '../../src/db/list-tasks';
import { openDirectory } from '../../src/storage/directory';
import { atMost, besideQuiet, type Finding, type Row } from '../row';
import { openWire, requestText } from '../support/http-load';
import { ledgerTasks } from '../support/ledger-task';
import { writeBooks } from '../support/many-movements';
import { seedOld } from '../support/old-tasks';
import { inOwnDatabase } from '../support/own-database';
import { alternate, compare, median } from '../support/rounds';
import { createText } from '../support/tasks';
import { type Account, models, type World } from '../world';

const kept = { tasksKeptDays: 400, filesKeptDays: 30 };
const flatMax = 1.1;

export const retentionRow: Row = {
  name: 'retention',
  async measure(world: World): Promise<readonly Finding[]> {
    return [...(await deleting(world)), ...(await keeping(world))];
  },
};

async function deleting(world: World): Promise<readonly Finding[]> {
  const { db, settings, say } = world;
  const loud = await world.anAccount();
  const quiet = await world.anAccount();
  const tasks = settings.quick ? 2_000 : 200_000;
  // For ever, so that the worker leaves them to this row.
  await setTerms(db, loud.accountId, { tasksKeptDays: 0 });
  const rows = await seedOld(world, loud, tasks);
  say(`  ${rows} rows of ${tasks} old tasks written`);
  const { differences } = await audit(db);
  if (differences.length > 0) throw new Error(`The books differ: ${JSON.stringify(differences)}`);
  // As the hourly audit records it.
  await db.raw(`insert into audited_books select account_id, last_seq, available, held from balances
                on conflict (account_id) do update set seq = excluded.seq,
                  available = excluded.available, held = excluded.held`);
  await timeQuiet(world, quiet, pause(2_000));
  const alone = await timeQuiet(world, quiet, pause(settings.quick ? 2_000 : 20_000));
  await setTerms(db, loud.accountId, { tasksKeptDays: 100 });
  const deleteOld = createDeleteOld({ db, ...kept });
  let deleted = 0;
  const started = performance.now();
  const run = async () => {
    while (deleted < tasks) {
      const more = await deleteOld();
      deleted += more;
      if (more === 0) throw new Error(`Only ${deleted} of ${tasks} old tasks were deleted.`);
    }
  };
  const beside = await timeQuiet(world, quiet, run());
  const seconds = (performance.now() - started) / 1_000;
  say(`  ${deleted} old tasks deleted in ${seconds.toFixed(1)} s`);
  const left = await db('tasks').where({ account_id: loud.accountId }).count('* as n').first();
  if (Number(left?.n) !== 1) throw new Error(`${left?.n} tasks are left instead of 1.`);
  return [
    {
      figure: `old tasks deleted, of ${rows.toLocaleString('en')} rows`,
      unit: 'tasks/s',
      ours: deleted / seconds,
      note: `${Math.round(((deleted / seconds) * rows) / tasks)} rows a second`,
    },
    slower('create', alone.creates, beside.creates),
    slower('list', alone.lists, beside.lists),
  ];
}

interface Quiet {
  readonly creates: number[];
  readonly lists: number[];
}

/** Creates and lists of a quiet account until something is done, in milliseconds. */
async function timeQuiet(
  { apiUrl }: World,
  account: Account,
  done: Promise<unknown>,
): Promise<Quiet> {
  const { hostname, port } = new URL(apiUrl);
  const wire = await openWire(hostname, Number(port));
  const took: Quiet = { creates: [], lists: [] };
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const list = requestText('GET', '/v1/tasks?limit=20', headers);
  const timed = async (text: string, into: number[]) => {
    const began = performance.now();
    const { status, body } = await wire.exchange(text);
    into.push(performance.now() - began);
    if (status !== 200) throw new Error(`A quiet account was answered with ${status}: ${body}`);
  };
  let isDone = false;
  const end = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await timed(createText(account, models.instant), took.creates);
    for (let nth = 0; nth < 2; nth += 1) {
      await timed(list, took.lists);
      await pause(20);
    }
  }
  await end;
  wire.close();
  return took;
}

function slower(what: string, alone: readonly number[], beside: readonly number[]): Finding {
  return besideQuiet(
    `p99 of a quiet ${what} beside the deletion`,
    alone,
    beside,
    `median ${median(beside).toFixed(1)} ms, quiet ${median(alone).toFixed(1)} ms; ${beside.length} calls`,
  );
}

/** What the reconciler and a list do, in milliseconds. */
interface Kept {
  readonly list: () => Promise<number>;
  readonly sweep: () => Promise<number>;
  readonly pass: () => Promise<number>;
}

async function keeping({ stack, settings }: World): Promise<readonly Finding[]> {
  const { databaseUrl } = stack.addresses;
  const [few, many] = [1_000, settings.quick ? 2_000 : 100_000];
  return inOwnDatabase(databaseUrl, 'bench_kept_few', (small) =>
    inOwnDatabase(databaseUrl, 'bench_kept_many', async (large) => {
      const folder = await mkdtemp(join(tmpdir(), 'video-bench-kept-'));
      try {
        const [least, most] = [
          await resultsKept(small, join(folder, 'few'), few),
          await resultsKept(large, join(folder, 'many'), many),
        ];
        const findings: Finding[] = [];
        for (const [name, figure] of [
          ['list', 'a list of ended tasks'],
          ['sweep', 'a run of the reconciler over files and storage'],
          ['pass', 'a pass over the old tasks'],
        ] as const) {
          const found = await alternate(settings.rounds, most[name], least[name]);
          const title = `${figure}, ${many.toLocaleString('en')} kept results against ${few}`;
          findings.push(atMost(title, 'ms', compare(found), flatMax));
        }
        return findings;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
  );
}

async function resultsKept(db: Knex, folder: string, count: number): Promise<Kept> {
  const catalogue = await loadCatalogue(join(projectFolder(), 'catalogue.yaml'), {});
  await writeBooks(db, ledgerTasks(catalogue), { accounts: 1, tasksEach: count });
  await db.raw(`
    insert into files (id, account_id, task_id, role, state, key, link_token, media, content_type,
                       length, expires_at)
    select 'file_' || id, account_id, id, 'video', 'stored', 'results/' || id || '/video', id,
           'video', 'video/mp4', 1, now() + interval '30 days'
      from tasks`);
  await db.raw('vacuum analyze files');
  const storage = await openDirectory(folder);
  for (let nth = 1; nth <= count; nth += 1) {
    const of = join(folder, 'results', `task_1_${nth}`);
    await mkdir(of, { recursive: true });
    await writeFile(join(of, 'video'), 'x');
  }
  const finding = (...found: unknown[]) => {
    throw new Error(`The sweep found ${JSON.stringify(found)}.`);
  };
  const events = { finding } as unknown as Parameters<typeof createRemoveUnknown>[0]['events'];
  const page = { accountId: 'acct_1', status: 'succeeded', limit: 20 } as const;
  return {
    list: () => each(100, () => listTasks(db, page)),
    sweep: () =>
      each(10, async () => {
        // Each call checks the next 500 objects of the storage.
        const removeUnknown = createRemoveUnknown({ db, storage, events, unknownPercentMax: 20 });
        const removed =
          (await removeExpired({ db, storage })) +
          (await removeUnknown()) +
          (await removeUnknown());
        if (removed > 0) throw new Error(`${removed} kept results were removed.`);
      }),
    pass: () => each(100, () => createDeleteOld({ db, ...kept })()),
  };
}

/** The median time of some calls. */
async function each(calls: number, call: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    const began = performance.now();
    await call();
    took.push(performance.now() - began);
  }
  return median(took);
}
