// The engine is killed under a service and comes back: what is stored is read meanwhile, creates
// are put off, and everything goes on after. Whoever stops an engine has one of their own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from '../../src/db/ledger-audit';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal';
import { findTemporal } from '../../src/embedded/temporal-binary';
import { searchAttributes } from '../../workflows/search-attributes';
import { type Reply, type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';

export interface OwnEngine {
  readonly service: Service;
  address(): string;
  kill(): Promise<void>;
  /** Where it was before. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

interface AwaySize {
  readonly rounds: number;
  /** How long nobody starts it again, besides the calls that find it gone. */
  readonly awayMs: number;
}

export async function startOwnEngine(): Promise<OwnEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'video-away-'));
  const { path } = await findTemporal(process.env.TEMPORAL_CLI);
  const start = (port?: number): Promise<EmbeddedTemporal> =>
    startTemporal({
      binary: path,
      ui: false,
      databaseFile: join(folder, 'temporal.db'),
      searchAttributes: searchAttributes.map(({ name }) => name),
      ...(port ? { port } : {}),
    });
  let engine = await start();
  const service = await startService({ temporalAddress: engine.address, acceptTimeoutMs: 1_500 });
  return {
    service,
    address: () => engine.address,
    kill: () => engine.child.stop('SIGKILL', 1_000),
    async comeBack() {
      engine = await start(Number(engine.address.split(':')[1]));
    },
    async close() {
      await service.close();
      await engine.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function testEngineAway(own: () => OwnEngine, { rounds, awayMs }: AwaySize): void {
  const each = Array.from({ length: rounds }, (_, n) => n + 1);
  test.each(each)(
    'with the engine away, tasks are read, creates put off, and all goes on after (round %i)',
    async (round) => {
      const { service, kill, comeBack } = own();
      const get = (id: string) => service.call('GET', `/v1/videos/generations/${id}`);
      const done = (await service.create(textTask())).json.id;
      const before = await service.finished(done);
      const live = (await service.create(textTask({ run_s: 2 }))).json.id;
      await until('it runs', async () => (await get(live)).json.status === 'running');
      await kill();

      expect((await get(done)).json).toEqual(before);
      expect((await get(live)).json.status).toBe('running');
      const key = { 'idempotency-key': `engine-away-${round}` };
      const refused = await service.create(textTask(), key);
      expect([refused.status, refused.json.error.code]).toEqual([503, 'unavailable']);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      await new Promise((resolve) => setTimeout(resolve, awayMs));

      await comeBack();
      expect(await service.finished(live, 60_000)).toMatchObject({ status: 'succeeded' });
      const retried = await untilAccepted(() => service.create(textTask(), key));
      expect(retried.status).toBe(200);
      expect(await service.finished(retried.json.id, 60_000)).toMatchObject({
        status: 'succeeded',
      });
      expect((await audit(service.db)).differences).toEqual([]);
    },
    180_000,
  );
}

/** As a caller does who is told to come again. */
async function untilAccepted(create: () => Promise<Reply>): Promise<Reply> {
  let reply = await create();
  for (let n = 0; n < 40 && reply.status === 503; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    reply = await create();
  }
  return reply;
}
