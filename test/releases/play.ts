// Plays what a database may contain: tasks, jobs, callbacks, files, money and operators in every
// state. What can end is played by a whole service. What must stay in the middle is stored by the
// statements of the service, after its worker has stopped.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addRefusals } from '../../src/accounts/refusals.rows';
import { finishAttempt } from '../../src/callbacks/callbacks.rows';
import { logged } from '../../src/database/operator-log';
import { openDirectory } from '../../src/files/storage/directory';
import { beginUpload, giveUpUpload } from '../../src/files/uploads.rows';
import { storeMissing } from '../../src/jobs/missing.rows';
import { beginPlacing } from '../../src/jobs/owed.rows';
import { giveTurns, takeSlot } from '../../src/jobs/slots.rows';
import {
  storeOpened,
  storeRejected,
  storeReports,
  storeSearched,
  waitForTurn,
} from '../../src/jobs/steps.rows';
import { takeOver } from '../../src/jobs/take-over.rows';
import { pauseChannel, recordFault } from '../../src/jobs/watchers.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { addOperator, disableOperator } from '../../src/operators/operators.rows';
import { beginSession } from '../../src/operators/sessions.rows';
import { forgetTasks } from '../../src/tasks/forget.rows';
import { adminWith } from '../support/admin';
import { aClosing, openNew, storePending } from '../support/books';
import { anEnhancedPlan, aRequest, aSuccess, aTaskInput } from '../support/builders';
import type { CallbackSink } from '../support/callback-sink';
import { mp4 } from '../support/files';
import { deleteDueFiles } from '../support/owed';
import { call, cancelTask, type Service, textTask } from '../support/service';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';
import { playAlerts } from './play-alerts';

/** The keys that read what was played. */
export interface PlayedKeys {
  readonly api: string;
  readonly operator: string;
}

export async function play(service: Service, sink: CallbackSink): Promise<PlayedKeys> {
  storageDir = await mkdtemp(join(tmpdir(), 'video-played-'));
  await openDirectory(storageDir);
  await playCustomers(service);
  await rm(storageDir, { recursive: true });
  await playEndedTasks(service, sink);
  await playFiles(service);
  const operator = await playOperators(service);
  await service.stopWorker();
  await playLiveTasks(service);
  await playMoney(service);
  await playAlerts(service);
  return { api: service.apiKey, operator };
}

/** An erasure looks into a storage; the erased account has no files. */
let storageDir = '';

function adminOf({ databaseUrl, studio }: Service) {
  const admin = adminWith(() => ({
    ...{ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress() },
    ...{ STUDIO_URL: studio.url, STORAGE_DIR: storageDir },
  }));
  return async (...line: readonly string[]) => {
    const said = await admin([...line, '--json']);
    if (said.exitCode !== 0) throw new Error(`admin ${line.join(' ')}: ${said.err}`);
    return said.json;
  };
}

const soon = '2099-01-01';

async function playCustomers(service: Service): Promise<void> {
  const admin = adminOf(service);
  const { accountId: account } = service;
  const terms = ['--running-max=500', '--queued-max=500', '--create-rate=90', '--read-rate=90'];
  const kept = ['--files-kept-days=300', '--tasks-kept-days=0', '--trusts-lengths=yes'];
  await admin('accounts', 'terms', account, ...terms, ...kept);
  const limited = ['--models', 'studio-2.0', '--channels', 'studio', '--expires', soon];
  const key = await admin('keys', 'create', '--account', account, '--name', 'limited', ...limited);
  await admin('keys', 'terms', key.keyId, '--create-rate=5', '--read-rate=5');
  const managing = ['--name', 'managing', '--manages-keys'];
  const manager = await admin('keys', 'create', '--account', account, ...managing);
  const body = { name: 'made by a key' };
  const made = await call(service.url, manager.apiKey, 'POST', '/v1/account/keys', body);
  if (made.status !== 201) throw new Error(made.text);
  const revoked = await admin('keys', 'create', '--account', account, '--name', 'revoked');
  await admin('keys', 'revoke', revoked.keyId);
  const zone = ['--time-zone', 'Asia/Shanghai'];
  for (const period of ['day', 'month', 'total'] as const) {
    const limit = ['--period', period, '--limit', '900000.00', ...zone];
    await admin('budgets', 'set', '--account', account, ...limit);
  }
  const ofKey = ['--key', key.keyId, '--period', 'total', '--limit', '100.00'];
  await admin('budgets', 'set', '--account', account, ...ofKey);
  await addRefusals(service.db, [{ accountId: account, code: 'rate_limited', calls: 3 }]);
  await admin('webhooks', 'rotate', account, '--overlap', '24h');
  // The price list is in the catalogue of an operator.
  const partner = await admin('accounts', 'create', '--name', 'Partner', '--no-key');
  await service.db('accounts').where({ id: partner.accountId }).update({ price_list: 'partners' });
  const other = await admin('accounts', 'create', '--name', 'Erased', '--credit', '5.00');
  await admin('accounts', 'erase', other.accountId, '--why', 'the customer asked for it');
}

async function playEndedTasks(service: Service, sink: CallbackSink): Promise<void> {
  const { db, accountId } = service;
  const admin = adminOf(service);
  const callback_url = sink.url;
  const make = async (studio: object, over: object = {}, key?: string) => {
    const headers = key ? { 'idempotency-key': key } : undefined;
    const reply = await service.create(textTask({ ...studio }, { ...over }), headers);
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.json.id as string;
  };
  const labels = { order: '4711' };
  const full = { callback_url, labels, return_last_frame: true };
  const enhanced = { super_resolution_config: { resolution: '1080p' } };
  const made = [
    await make({}, { metadata: { ...full, ...enhanced } }, 'first'),
    await make({}, { metadata: full }),
    await make({ end: 'failed' }),
  ];
  const above = await make({ tokens: 250_000 });
  const [removed, takenDown, expired] = [await make({}), await make({}), await make({})];
  const cancelled = await make({ queue_s: 600 });
  await cancelTask(service.call, cancelled);
  for (const id of [...made, above, removed, takenDown, expired, cancelled]) {
    await service.finished(id);
  }
  await admin(
    'accounts',
    'correct',
    accountId,
    '0.50',
    ...reasons('customer', above),
    '--task',
    above,
  );
  await admin('accounts', 'correct', accountId, '0.25', ...reasons('house', 'a-b'));
  await service.call('DELETE', `/v1/videos/generations/${removed}/content`);
  const file = await db('files').where({ task_id: takenDown }).first('id');
  await admin('files', 'remove', file.id, '--why', 'a rights holder asked for it');
  await db('files')
    .where({ task_id: expired })
    .update({ expires_at: db.raw('now()') });
  // No attempt can copy these results any more.
  await db('files').whereIn('task_id', [removed, takenDown, expired]).update({ due_at: null });
  await deleteDueFiles(service);
  // The ends of callbacks: delivered, stopped by the receiver, not delivered yet, given up.
  const delivered = async () => (await db('callbacks').where({ state: 'delivered' })).length === 2;
  await until('the callbacks have arrived', delivered);
  sink.answer = (_, response) => void response.writeHead(410).end('gone');
  const stopped = await make({}, { metadata: { callback_url } });
  const isStopped = async () =>
    (await db('callbacks').where({ task_id: stopped, state: 'stopped' })).length === 1;
  await until('the callback has stopped', isStopped);
  sink.answer = (_, response) => void response.writeHead(500).end('not now');
  const webhook = { url: sink.url, events: ['succeeded', 'failed'] };
  const added = await service.call('POST', '/v1/webhooks', webhook);
  if (added.status !== 201) throw new Error(added.text);
  const [waiting, givenUp] = [await make({}), await make({})];
  const tried = async () =>
    (await db('callback_attempts').whereIn('task_id', [waiting, givenUp]).whereNotNull('status'))
      .length === 2;
  await until('both attempts have failed', tried);
  const attempt = await db('callback_attempts').where({ task_id: givenUp }).first();
  await finishAttempt(
    db,
    { id: String(attempt.id), taskId: givenUp, delivery: 1 },
    { status: 500, latencyMs: 12, error: 'HTTP 500', reply: 'not now' },
    { state: 'exhausted', nextAt: null },
  );
  const forgotten = await make({ end: 'failed' });
  await forgetTasks(db, [{ id: forgotten, object: await service.finished(forgotten) }]);
}

const reasons = (whom: string, reference: string) => [
  ...['--for', whom, '--reference', reference, '--reason', 'the bill was wrong'],
];

async function playFiles(service: Service): Promise<void> {
  const { db, accountId } = service;
  const send = async (name: string, type: string, bytes: Buffer) => {
    const body = new FormData();
    body.set('file', new Blob([Uint8Array.from(bytes)], { type }), name);
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const reply = await fetch(`${service.url}/v1/files`, { method: 'POST', headers, body });
    if (!reply.ok) throw new Error(await reply.text());
    return ((await reply.json()) as { id: string }).id;
  };
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==',
    'base64',
  );
  const wave = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt '), Buffer.alloc(20)]);
  await send('a.png', 'image/png', png);
  await send('a.mp4', 'video/mp4', mp4(2, 10));
  await send('a.wav', 'audio/wav', wave);
  const gone = await send('gone.png', 'image/png', png);
  await service.call('DELETE', `/v1/files/${gone}`);
  for (const name of ['arriving.png', 'given-up.png']) {
    const id = `file_${randomBytes(10).toString('hex')}`;
    const kinds = { media: 'image', contentType: 'image/png', reservedBytes: 100 } as const;
    const upload = { id, accountId, key: `uploads/${id}`, linkToken: id, name, ...kinds };
    await beginUpload(db, upload, { filesMax: 100, bytesMax: 1_000_000 });
    if (name === 'given-up.png') await giveUpUpload(db, id);
  }
}

async function playOperators(service: Service): Promise<string> {
  const { db } = service;
  const add = async (name: string, role: 'viewer' | 'operator' | 'owner') => {
    const added = await addOperator(db, { name, role, expiresAt: new Date(soon) });
    if (!added) throw new Error(`${name} exists.`);
    return added;
  };
  const [owner, left] = [await add('Ann', 'owner'), await add('Bob', 'operator')];
  await add('Cleo', 'viewer');
  await disableOperator(db, left.operatorId);
  await db.transaction((trx) => beginSession(trx, owner.operatorId, owner.key));
  for (const via of ['api', 'console'] as const) {
    const command = `accounts terms ${service.accountId} --running-max 500`;
    const act = { who: 'Ann', command, why: 'a test', operatorId: owner.operatorId, via };
    const subject = { kind: 'account', id: service.accountId } as const;
    await logged(db, act, subject, async () => ({ effect: 'running-max none → 500' }));
  }
  return owner.key;
}

/** One task for each state of a job, and for each duty. */
async function playLiveTasks({ db, accountId }: Service): Promise<void> {
  const to = { channel: 'studio', upstreamModel: 'studio-2.0', repeatable: true };
  const input = (over = {}) => aTaskInput({ accountId, ...over });
  const isLive = async (over = {}) => {
    const { taskId, plan, traceId } = await opened(input(over));
    const createdAt = new Date();
    const rest = { request: aRequest(), createdAt, plan, videoUrl: null, traceId };
    return { taskId, accountId, kind: 'generation' as const, ...rest };
  };
  async function opened(task: ReturnType<typeof input>) {
    await openNew(db, task);
    return task;
  }
  const isSending = async (over = {}) => {
    const job = await isLive(over);
    await beginPlacing(db, job);
    await takeSlot(db, job, to, null, 'first');
    await takeOver(db, job, 'first');
    return job;
  };
  const isOpen = async (over = {}) => {
    const job = await isSending(over);
    await storeOpened(db, job, { channel: 'studio', upstreamId: `cgt-${job.taskId}` });
    return job;
  };
  const request = aRequest();
  await storePending(db, input(), { isDue: true, request });
  const repeatable = input();
  await storePending(db, repeatable, { isDue: true, toldPending: true, request });
  await db('tasks').where({ id: repeatable.taskId }).update({ repeats: 0 });
  const planned = await isLive();
  await takeOver(db, planned, 'first');
  await storeRejected(db, planned, 'first', { code: 'full', sentence: 'The generator is full.' });
  await waitForTurn(db, await isLive(), ['enhancer', 'seldom']);
  await waitForTurn(db, await isLive(), ['studio']);
  await giveTurns(db, 'studio', 1_000);
  await storeSearched(db, await isSending(), 'first');
  const running = await isOpen();
  const upstreamId = `cgt-${running.taskId}`;
  const report = { kind: 'generation', upstreamId, status: 'running' } as const;
  await storeReports(db, [{ ...running, report }]);
  await storeMissing(db, { missing: [await isOpen()], back: [] });
  await storeReports(db, [{ ...(await isOpen()), report: aSuccess() }]);
  await storeReports(db, [{ ...(await isOpen({ plan: anEnhancedPlan() })), report: aSuccess() }]);
  const left = await isOpen();
  await closeTask(db, aClosing(left.taskId, left.plan.hold.amountMicros, null));
  await recordFault(db, 'seldom', 'away', 60_000);
  await pauseChannel(db, 'seldom', 'Ann', 'its answers are wrong');
}

/** Charges above the hold, for both kinds of work. */
async function playMoney({ db, accountId }: Service): Promise<void> {
  const task = aTaskInput({ accountId, plan: anEnhancedPlan() });
  await openNew(db, task);
  const held = task.plan.hold.amountMicros;
  const closing = aClosing(task.taskId, held, held + 30);
  const [line] = closing.charge;
  if (!line) throw new Error('a charge has a line');
  const made = { ...line, amountMicros: held + 10 };
  const enhanced = { ...line, kind: 'super_resolution' as const, amountMicros: 20 };
  await closeTask(db, { ...closing, charge: [made, enhanced] });
  await db('loops')
    .where({ kind: 'reconciler' })
    .update({ loss_confirmed_until: db.raw('now()') });
}
