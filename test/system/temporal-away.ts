// Tests a service whose Temporal server is killed and started again, or whose workers are stopped.
// Tasks are read and created meanwhile, and all of them end afterwards. A test that stops Temporal
// has its own server.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal';
import { findTemporal } from '../../src/embedded/temporal-binary';
import { audit } from '../../src/money/audit.rows';
import { searchAttributes } from '../../workflows/search-attributes';
import { acceptedJobs } from '../support/accepted-jobs';
import { type Service, startService, textTask } from '../support/service';
import { starting } from '../support/starting';
import { until } from '../support/until';

export interface OwnTemporal {
  readonly service: Service;
  address(): string;
  kill(): Promise<void>;
  /** Starts Temporal again, at the previous address. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

interface AwaySize {
  readonly rounds: number;
  /** The number of creates. They are spread evenly over `awayMs`. */
  readonly creates: number;
  readonly awayMs: number;
}

export async function startOwnTemporal(): Promise<OwnTemporal> {
  const folder = await mkdtemp(join(tmpdir(), 'video-away-'));
  const binary = await findTemporal(process.env.TEMPORAL_CLI);
  const start = (port?: number): Promise<EmbeddedTemporal> =>
    startTemporal({
      binary,
      ui: false,
      databaseFile: join(folder, 'temporal.db'),
      searchAttributes: searchAttributes.map(({ name }) => name),
      ...(port ? { port } : {}),
    });
  let temporal = await starting(() => start());
  const service = await startService({ temporalAddress: temporal.address });
  return {
    service,
    address: () => temporal.address,
    kill: () => temporal.child.stop('SIGKILL', 1_000),
    async comeBack() {
      temporal = await start(Number(temporal.address.split(':')[1]));
    },
    async close() {
      await service.close();
      await temporal.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function testTemporalAway(
  own: () => OwnTemporal,
  { rounds, creates, awayMs }: AwaySize,
): void {
  const each = Array.from({ length: rounds }, (_, n) => n + 1);
  test.each(each)(
    `while Temporal is down, ${creates} creates are accepted and tasks can be read; all tasks succeed afterwards (round %i)`,
    async (round) => {
      const { service, kill, comeBack } = own();
      const get = (id: string) => service.call('GET', `/v1/videos/generations/${id}`);
      const done = (await service.create(textTask())).json.id;
      const before = await service.finished(done);
      const live = (await service.create(textTask({ run_s: 10 }))).json.id;
      await until('it runs', async () => (await get(live)).json.status === 'running');
      await kill();

      expect((await get(done)).json).toEqual(before);
      expect((await get(live)).json.status).toBe('running');
      const keyOf = (n: number) => ({
        'idempotency-key': `temporal-away-${creates}-${round}-${n}`,
      });
      const ids = await createOver(service, creates, awayMs, keyOf);
      const again = await service.create(textTask(), keyOf(0));
      expect([again.status, again.json.id]).toEqual([200, ids[0]]);
      const cancelled = await service.call('DELETE', `/v1/videos/generations/${ids[0]}`);
      expect(cancelled.json.status).toBe('failed');

      await comeBack();
      expect(await service.finished(live)).toMatchObject({ status: 'succeeded' });
      await allSucceed(service, ids.slice(1));
    },
    awayMs + 600_000,
  );
}

export function testWorkersAway(
  own: () => OwnTemporal,
  { creates, awayMs }: Omit<AwaySize, 'rounds'>,
): void {
  test(
    `while all workers are down, ${creates} creates are accepted; all tasks succeed when a worker is back`,
    async () => {
      const { service } = own();
      await service.stopWorker();
      const ids = await createOver(service, creates, awayMs);
      await service.startWorker();
      await allSucceed(service, ids);
    },
    awayMs + 600_000,
  );
}

/** Sends `count` creates within `overMs` and expects 200 for each. Returns the ids of the tasks. */
export async function createOver(
  service: Service,
  count: number,
  overMs: number,
  headersOf: (n: number) => Record<string, string> = () => ({}),
): Promise<string[]> {
  const replies = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, (n * overMs) / count));
      return service.create(textTask(), headersOf(n));
    }),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  return replies.map(({ json }) => json.id as string);
}

/** Waits until all tasks have succeeded, and expects one job and one hold for each. */
export async function allSucceed(service: Service, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    expect(await service.finished(id, 180_000)).toMatchObject({ status: 'succeeded' });
  }
  const { rows } = await service.db.raw<{ rows: { holds: number; jobs: number }[] }>(
    `select (select count(*)::int from transfers where kind = 'hold' and task_id = any(:ids)) as holds,
            (select count(distinct upstream_id)::int from jobs where task_id = any(:ids)) as jobs`,
    { ids },
  );
  expect(rows[0]).toEqual({ holds: ids.length, jobs: ids.length });
  const accepted = await Promise.all(ids.map((id) => acceptedJobs(service, id)));
  expect(accepted).toEqual(ids.map(() => 1));
  expect((await audit(service.db)).differences).toEqual([]);
}
