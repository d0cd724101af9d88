// Runs the service behind a liar, for tests of one file: the liar stands between the service and
// the studio and can give wrong answers. After each test, nothing has failed as a fault of the
// service, and the ledger agrees.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { audit } from '../../src/money/audit.rows';
import { acceptedJobs } from './accepted-jobs';
import { type Liar, startLiar } from './liar';
import { type Service, startService } from './service';

interface Options {
  /** The catalogue, for providers at this address. */
  readonly catalogue: (liarUrl: string, shipped: Catalogue) => Catalogue;
  readonly channelKeys?: Readonly<Record<string, string>>;
  /** What each created task has unless a test says otherwise. */
  readonly task?: object;
}

export function liedToService({ catalogue, channelKeys = {}, task = {} }: Options) {
  let service: Service;
  let liar: Liar;
  beforeAll(async () => {
    liar = await startLiar(() => service.studio.url);
    service = await startService({
      catalogue: (shipped) => catalogue(liar.url, shipped),
      channelKeys,
    });
  });
  afterEach(async () => {
    liar.lie = () => null;
    expect(service.failures).toEqual([]);
    expect((await audit(service.db)).differences).toEqual([]);
  });
  afterAll(async () => {
    await service?.close();
    await liar?.close();
  });

  const admin = (path: string, more: RequestInit = {}) =>
    fetch(`${service.studio.url}/admin/${path}`, {
      ...more,
      headers: { authorization: `Bearer ${service.studioKey}` },
    });
  return {
    service: () => service,
    liar: () => liar,
    sample: (name: string) => `${service.studio.url}/samples/${name}`,
    /** Sets what happens to all later jobs. */
    async script(fields: object): Promise<void> {
      const body = JSON.stringify({ render: 'none', ...fields });
      expect((await admin('script', { method: 'POST', body })).status).toBe(200);
    },
    jobsOf: (taskId: string) => acceptedJobs(service, taskId),
    /** Creates a task and waits for its end. */
    async ended(over: object = {}) {
      const { status, json } = await service.create({ ...task, ...over });
      expect([status, json.error]).toEqual([200, undefined]);
      return service.finished(json.id);
    },
  };
}
