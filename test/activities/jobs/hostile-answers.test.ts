// No text of a provider may stop the jobs of other tasks, or make a row that cannot be read. For each
// protocol, a real server puts such texts at every place of its answers. This file gives the answers
// to the real watcher, placements and look-ups, and then erases the account.

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLostJob } from '../../../activities/jobs/find-lost-job';
import { protocols } from '../../../activities/providers/protocols';
import { UpstreamFault } from '../../../activities/providers/provider';
import { openDirectory } from '../../../src/files/storage/directory';
import type { JobInput } from '../../../src/jobs/job.rules';
import { findJob, hasChannel } from '../../../src/jobs/queries.rows';
import { adminWith } from '../../support/admin';
import { anAccountWith } from '../../support/books';
import { aFailedObject, anEnhancedPlan, aPlan, aSuccess, aTaskId } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { type Spoken, someVariantsOf, spoken, variantsOf } from '../../support/hostile-answers';
import { sized } from '../../support/sized';
import { temporalAddress } from '../../support/temporal';
import { until } from '../../support/until';
import { insertTaskRow, startUpstream, type Upstream } from '../../support/upstream';
import { watchWhile } from '../../support/watcher';

// stored-text.rules.test.ts has every text in each run.
const variants = sized({ each: someVariantsOf, long: variantsOf });

interface Said {
  readonly status: number;
  readonly text: string;
}

let database: TestDatabase;
let upstream: Upstream;
let server: Server;
let url: string;
/** The answers to reads by the id of the job, and those to creates by the id of the task. */
const reads = new Map<string, string>();
const creates = new Map<string, Said>();
/** The answers to look-ups, by protocol. */
const lists = new Map<string, string>();

const names = Object.keys(spoken);
const spokenBy = (name: string): Spoken => spoken[name]!;
const kindOf = (name: string) => protocols[name]!.does[0]!;

function answerTo(method: string, path: URL, taskId: string): Said {
  const [, name = '', ...rest] = path.pathname.split('/');
  const { page, single = (item: string) => item } = spokenBy(name);
  if (method === 'POST') return creates.get(taskId)!;
  const ids = path.searchParams.getAll('filter.task_ids');
  if (page && ids.length > 0) {
    return { status: 200, text: page(ids.map((id) => reads.get(id) ?? '{}')) };
  }
  const known = reads.get(decodeURIComponent(rest.at(-1) ?? ''));
  return { status: 200, text: known === undefined ? lists.get(name)! : single(known) };
}

beforeAll(async () => {
  database = await createTestDatabase();
  await anAccountWith(database.db, 'acct_test', 1);
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const taskId = String(request.headers['x-client-request-id']);
      const said = answerTo(request.method ?? '', new URL(request.url ?? '', url), taskId);
      response.writeHead(said.status, { 'content-type': 'application/json' }).end(said.text);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  upstream = await startUpstream(database.db, (base) =>
    names.map((name) => ({
      ...{ ...base, requestTimeoutMs: 10_000, pollIntervalMs: 500, listLagMs: 600_000 },
      ...{ id: name, protocol: name, baseUrl: `${url}/${name}`, ...spokenBy(name).channel },
    })),
  );
});
afterAll(async () => {
  await upstream?.close();
  server?.closeAllConnections();
  await new Promise((done) => server?.close(done));
  await database?.drop();
});

interface Row {
  readonly name: string;
  readonly upstreamId?: string;
  readonly state: string;
}

/** Stores a task with a job at this channel. */
async function aJob({ name, upstreamId, state }: Row): Promise<JobInput> {
  const { db } = database;
  const [kind, taskId, accountId] = [kindOf(name), aTaskId(), 'acct_test'];
  const choices = [{ channel: name, upstreamModel: spokenBy(name).model }];
  const plan =
    kind === 'generation' ? aPlan({ channels: choices }) : anEnhancedPlan({ channels: [name] });
  await insertTaskRow(db, taskId, plan);
  const common = { task_id: taskId, account_id: accountId };
  if (kind === 'super_resolution') {
    const report = JSON.stringify(aSuccess());
    await db('jobs').insert({ ...common, kind: 'generation', state: 'closed', report });
  }
  const isSent = state !== 'planned';
  await db('jobs').insert({
    ...{ ...common, kind, state, upstream_id: upstreamId ?? null },
    ...(isSent ? { channel: name, upstream_model: spokenBy(name).model } : {}),
    ...(isSent ? { sent_at: db.fn.now(), opened_at: upstreamId ? db.fn.now() : null } : {}),
  });
  return { taskId, accountId, kind, plan, traceId: 'trace' };
}

/** Stores open jobs whose reads are answered in this way. */
async function openJobs(name: string, answers: readonly ((id: string) => string)[]) {
  const opened: string[] = [];
  for (const answer of answers) {
    const id = randomUUID();
    reads.set(id, answer(id));
    const { taskId } = await aJob({ name, upstreamId: spokenBy(name).storedId(id), state: 'open' });
    opened.push(taskId);
  }
  return opened;
}

const reportsOf = (taskIds: readonly string[]) =>
  database
    .db('jobs')
    .whereIn('task_id', [...taskIds])
    .where({ state: 'reported' })
    .select('status', 'report');

const findings = () => upstream.events.filter((event) => event.name === 'finding');

test('every protocol is spoken here', () => {
  expect(names.sort()).toEqual(Object.keys(protocols).sort());
});

test('all jobs of a round end, whatever texts the reports of some of them contain', async () => {
  const watched = names.map(async (name) => {
    const { made, failed, needs } = spokenBy(name);
    const answersOf = (honest: (id: string) => object) =>
      variants(honest('the id')).map(({ path, text }) => ({
        isTold: !needs.includes(path),
        text: (id: string) => text.replaceAll('the id', id),
      }));
    const makes = (id: string) => made(id, `${url}/video.mp4`);
    const hostile = [...answersOf(makes), ...answersOf(failed)];
    const told = hostile.filter(({ isTold }) => isTold).map(({ text }) => text);
    const untold = hostile.filter(({ isTold }) => !isTold).map(({ text }) => text);
    const honest = [(id: string) => JSON.stringify(makes(id))];
    await openJobs(name, untold);
    const toEnd = await openJobs(name, told);
    const neighbours = await openJobs(name, honest);
    await watchWhile(
      upstream.deps,
      () =>
        until(`all jobs of ${name} have ended`, async () => {
          return (await reportsOf(toEnd)).length === toEnd.length;
        }),
      name,
    );
    expect(toEnd.length).toBeGreaterThan(sized({ each: 40, long: 100 }));
    expect(await reportsOf(neighbours)).toMatchObject([{ status: 'succeeded' }]);
    const codes = (await reportsOf(toEnd)).map(({ report }) => report.failure?.code ?? '');
    expect(codes.filter((code) => code.length > 100)).toEqual([]);
  });
  await Promise.all(watched);
  expect(findings()).toEqual([]);
});

test('a create ends its attempt, whatever texts the answer contains', async () => {
  const { channels } = upstream.deps;
  const placed = names.map(async (name) => {
    const { accepted, refused } = spokenBy(name);
    const answers = [
      ...variants(accepted('the id')).map(({ text }) => ({ status: 200, text })),
      ...variants(refused.body).map(({ text }) => ({ status: refused.status, text })),
    ];
    let rejected = 0;
    for (const { status, text } of answers) {
      const input = await aJob({ name, state: 'planned' });
      creates.set(input.taskId, { status, text: text.replaceAll('the id', input.taskId) });
      channels.succeeded(name, 'creates');
      const outcome = await upstream
        .attempt(input)
        .catch(({ type }: { type?: string }) => ({ outcome: type }));
      // An attempt that is repeated says why. Any other error is a fault of the service.
      expect(outcome.outcome).toEqual(expect.any(String));
      if (outcome.outcome === 'rejected') rejected += 1;
    }
    expect(rejected).toBeGreaterThan(sized({ each: 4, long: 10 }));
  });
  await Promise.all(placed);
  const { rows } = await database.db.raw(
    `select count(*)::int as read from jobs where report->>'status' = 'failed'`,
  );
  expect(rows[0].read).toBeGreaterThan(sized({ each: 40, long: 100 }));
});

test('a look-up of a lost job gives an answer, whatever texts the list contains', async () => {
  const looked = names.map(async (name) => {
    const { list } = spokenBy(name);
    const known = upstream.deps.channels.find(name);
    if (!list || !known) return;
    const input = await aJob({ name, state: 'sending' });
    const lost = await findJob(database.db, input);
    if (!hasChannel(lost)) throw new Error('The job has a channel.');
    const seconds = Math.floor(Date.now() / 1_000);
    for (const { text } of variants(list('other', input.taskId, seconds))) {
      lists.set(name, text);
      await findLostJob(upstream.deps, input, lost, known).catch((error: unknown) => {
        if (!(error instanceof UpstreamFault)) throw error;
      });
    }
  });
  await Promise.all(looked);
});

test('the account of all these tasks can be erased', async () => {
  const { db } = database;
  const object = JSON.stringify(aFailedObject('task'));
  await db('tasks').update({ object, finished_at: db.fn.now(), owes: null, due_at: null });
  await db('jobs').update({ state: 'closed' });
  const folder = await mkdtemp(join(tmpdir(), 'video-hostile-'));
  await openDirectory(folder);
  const admin = adminWith(() => ({
    DATABASE_URL: database.operatorUrl,
    TEMPORAL_ADDRESS: temporalAddress(),
    STORAGE_DIR: folder,
  }));
  const said = await admin('accounts erase acct_test --json');
  await rm(folder, { recursive: true, force: true });
  expect([said.exitCode, said.err]).toEqual([0, '']);
  const { rows } = await db.raw(
    `select distinct array(select jsonb_object_keys(report::jsonb)) as names from jobs
      where report is not null`,
  );
  expect(rows).toEqual([{ names: ['status'] }]);
});
