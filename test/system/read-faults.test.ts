// Each fault of a read at each protocol, through the whole service. Every cell ends its task with one
// job and the right charge, and afterwards the ledger agrees. The outcomes are a table in
// docs/generators.md. After a change, this command writes the table again:
// UPDATE_DOCUMENTS=1 npx jest --selectProjects stack -- test/system/read-faults

import { protocols } from '../../activities/providers/protocols';
import { createEvents } from '../../src/engine/activity-events';
import { audit } from '../../src/money/audit.rows';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';
import { heldMicros } from '../support/books';
import { expectTable } from '../support/document-tables';
import { type Exchange, type Liar, type Lie, startLiar } from '../support/liar';
import { type Reader, readers, readersCatalogue } from '../support/readers';
import { type Service, startService, type TaskReply } from '../support/service';
import { until } from '../support/until';

let service: Service;
const liars = new Map<Reader, Liar>();
const urlOf = (reader: Reader) => liars.get(reader)!.url;
beforeAll(async () => {
  for (const reader of readers) liars.set(reader, await startLiar(() => service.studio.url));
  service = await startService({
    catalogue: ({ channels }) => readersCatalogue(new URL(channels.studio!.baseUrl).origin, urlOf),
    channelKeys: { KEY_PAIR: 'access:studio-key-for-tests' },
    reconcileIntervalSeconds: 3,
  });
  // All rows read the ledger at about the same time.
  await Promise.all(readers.map(() => service.db.raw('select 1')));
});
afterAll(async () => {
  await service?.close();
  for (const liar of liars.values()) await liar.close();
});

interface Fault {
  /** What the studio does to the job. */
  readonly script?: (reader: Reader) => object;
  /** The replacement of an answer to a read. */
  readonly lie?: (reader: Reader, exchange: Exchange) => Lie;
  /** The number of wrong answers; without one, every answer is wrong. */
  readonly times?: number;
  /** True if the task must wait for its deadline. */
  readonly isForGood?: true;
}

const some = 3;
const page = '<html><body>502 Bad Gateway</body></html>';
const thinking = (_: Reader, { body }: Exchange) => ({
  body: body.replaceAll(/("(?:task_)?status":\s*)"\w+"/g, '$1"thinking"'),
});
const vanished = (reader: Reader, { path }: Exchange) =>
  reader.emptyList && path.includes('?')
    ? { status: 200, body: reader.emptyList }
    : reader.unknownJob;
const withoutAddress = (reader: Reader, { body }: Exchange) =>
  reader.content
    ? { status: 404, body: '{}' }
    : { body: body.replaceAll(/"https?:\/\/[^"]*"/g, '""') };

const faults: Readonly<Record<string, Fault>> = {
  'unknown state': { lie: thinking, times: some },
  'unknown for good': { lie: thinking, isForGood: true },
  vanished: { lie: vanished, times: some },
  'vanished for good': { lie: vanished, isForGood: true },
  'no address': { lie: withoutAddress },
  'wrong length': { script: () => ({ reported_s: 60 }) },
  filtered: { script: ({ filtered }) => ({ end: 'failed', code: filtered }) },
  'cut JSON': { lie: () => ({ status: 200, body: '{"id": "cgt-2026' }), times: some },
  '5xx': { lie: () => ({ status: 503, body: '{"error":{"code":"InternalError"}}' }), times: some },
  'HTML page': { lie: () => ({ status: 200, body: page }), times: some },
  'plain 429': { lie: () => ({ status: 429, body: '{}' }), times: some },
  '429, Retry-After': {
    lie: () => ({ status: 429, body: '{}', headers: { 'retry-after': '1' } }),
    times: some,
  },
};

/** Lets the liar answer the reads of this channel wrongly. Returns the number of wrong answers. */
function liesAbout(reader: Reader, { lie, times = Number.POSITIVE_INFINITY }: Fault) {
  const liar = liars.get(reader)!;
  let told = 0;
  const isContent = (path: string) => reader.content?.test(path) === true;
  const fits = ({ method, path }: Exchange) =>
    method === 'GET' &&
    (lie === withoutAddress && reader.content ? isContent(path) : reader.read.test(path));
  liar.lie = (exchange) => {
    if (!lie || told >= times || !fits(exchange)) return null;
    told += 1;
    return lie(reader, exchange);
  };
  return () => told;
}

async function outcomeOf(reader: Reader, fault: Fault): Promise<string> {
  const told = liesAbout(reader, fault);
  const script = fault.script?.(reader) ?? {};
  const ofJob = { render: 'none', run_s: 0.2 };
  const studio = reader.enhances
    ? { ...ofJob, enhance: { ...ofJob, ...script } }
    : { ...ofJob, ...script };
  const { metadata, ...request } = reader.request;
  const { json } = await service.create({
    ...{ model: reader.model, prompt: 'a lighthouse at dusk', ratio: '16:9' },
    ...{ ...request, metadata: { ...metadata, studio } },
  });
  if (fault.isForGood || (reader.content && fault.lie === withoutAddress)) {
    await until('the task waits', () => told() > 3);
    // The reconciler ends it, because it is long past its deadline.
    await service.db.raw(`update tasks set deadline_at = now() - interval '3 hours' where id = ?`, [
      json.id,
    ]);
  }
  const task = await service.finished(json.id, 300_000);
  if (fault.lie) expect(told()).toBeGreaterThanOrEqual(fault.times ?? 1);
  expect(await jobsOf(json.id)).toBe(1);
  return chargeOf(reader, task);
}

/** The number of generations, or of enhancements, that the studio has accepted for this task. */
async function jobsOf(taskId: string): Promise<number> {
  const reply = await fetch(
    `${service.studio.url}/admin/accepted?kind=generation&client_request_id=${taskId}`,
    { headers: { authorization: `Bearer ${service.studioKey}` } },
  );
  return ((await reply.json()) as { total: number }).total;
}

/** What the ledger says that the task cost. Its bill must say the same. */
async function chargeOf(reader: Reader, task: TaskReply): Promise<string> {
  const { rows } = await service.db.raw<{ rows: { net: number }[] }>(
    `select coalesce(sum(amount) filter (where kind in ('settle', 'extra_charge')), 0)::float8 as net
       from transfers where task_id = ?`,
    [task.id],
  );
  const charged = ((rows[0]?.net ?? 0) / 1e6).toFixed(6);
  expect(task.billing.charged).toBe(charged);
  expect(task.status).toBe(charged === '0.000000' ? 'failed' : 'succeeded');
  if (task.status === 'failed') return 'refunded';
  if (charged === reader.chargedAtMost) return 'a second more';
  expect(charged).toBe(reader.charged);
  return 'charged';
}

async function outcomesOf(reader: Reader): Promise<string[]> {
  const outcomes: string[] = [];
  for (const fault of Object.values(faults)) {
    outcomes.push(await outcomeOf(reader, fault).catch((error: unknown) => String(error)));
  }
  return outcomes;
}

test('no fault of a read makes two jobs or a wrong charge', async () => {
  // The channels do not disturb each other, so all of them run at once.
  const outcomes = await Promise.all(readers.map(outcomesOf));
  expect((await audit(service.db)).differences).toEqual([]);
  expect(await heldMicros(service.db)).toBe(0);
  expectTable('docs/generators.md', 'read faults', [
    ['protocol', 'jobs are read', ...Object.keys(faults)],
    ...readers.map(({ protocol, way }, at) => [`\`${protocol}\``, way, ...(outcomes[at] ?? [])]),
  ]);
}, 1_200_000);

test('an unknown word is counted as a metric for each protocol', async () => {
  const meters = createMeters('worker');
  const { unknownStatus } = createEvents(
    createLogger({ level: 'fatal', format: 'json', name: 'worker' }),
    meters,
  );
  for (const { name, args } of service.events) {
    if (name === 'unknownStatus') unknownStatus(...(args as [string, string, string]));
  }
  const { values } = await meters.registry.getSingleMetric('video_unknown_statuses_total')!.get();
  const counted = new Map(values.map(({ labels, value }) => [labels.channel, value]));
  for (const { channel } of readers) expect(counted.get(channel)).toBeGreaterThanOrEqual(some);
});

test('the table has a row for each protocol', () => {
  expect(new Set(readers.map(({ protocol }) => protocol))).toEqual(new Set(Object.keys(protocols)));
});
