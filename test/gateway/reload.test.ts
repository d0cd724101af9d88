// Tests of a changed catalogue. New tasks use the new catalogue at once, and a running task keeps
// its plan. A faulty catalogue file is not used.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { createAccount } from '../../src/money/new-account.rows';
import { catalogueText } from '../support/catalogue';
import { createTestDatabase } from '../support/database';
import { call, startService, textTask } from '../support/service';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

/** The same catalogue with prices ten times as high. */
function dearer(catalogue: Catalogue): Catalogue {
  const models = Object.entries(catalogue.models).map(([id, model]) => {
    const prices = model.prices.map((row) => ({
      ...row,
      microsPerMillionTokens: row.microsPerMillionTokens * 10,
    }));
    return [id, { ...model, prices }];
  });
  return { ...catalogue, models: Object.fromEntries(models) };
}

test('a running task keeps the model and the price from the time of its create', async () => {
  const service = await startService();
  try {
    const body = textTask(
      { run_s: 1 },
      { metadata: { super_resolution_config: { fps: 60, resolution: '4k' } } },
    );
    const before = await service.create(body);
    const quoted = (await service.call('POST', '/v1/videos/quotes', body)).json;
    // While the task runs, its model leaves the catalogue and all prices rise.
    const { api } = service.catalogues;
    const { 'studio-2.0': _, ...models } = dearer(api).models;
    service.catalogues.api = { ...api, models };
    service.catalogues.worker = service.catalogues.api;
    const refused = await service.create(body);
    expect([refused.status, refused.json.error.code]).toEqual([400, 'model_not_found']);
    const task = await service.finished(before.json.id);
    expect(task).toMatchObject({ status: 'succeeded', model: 'studio-2.0' });
    expect(task.billing.held).toBe(quoted.hold);
    expect(task.billing.items.map((item: { unit_price: string }) => item.unit_price)).toEqual(
      quoted.items.map((item: { unit_price: string }) => item.unit_price),
    );
    const dear = await service.create({ ...body, model: 'studio-1.0' });
    const { billing } = await service.finished(dear.json.id);
    expect(billing.items[0].unit_price).toBe('150.000000');
    expect(service.failures).toEqual([]);
  } finally {
    await service.close();
  }
});

const program = join(__dirname, '../../dist/src/main.js');

test('SIGHUP makes the API reload the catalogue; a faulty file changes nothing and is logged', async () => {
  if (!existsSync(program)) throw new Error('Run "npm run build" first: this test needs dist.');
  const folder = await mkdtemp(join(tmpdir(), 'video-reload-'));
  const file = join(folder, 'catalogue.yaml');
  const database = await createTestDatabase();
  const { apiKey } = await createAccount(database.db, { name: 'a', creditMicros: 1 });
  await writeFile(file, catalogueText);
  const api = await startApi(file, database.url);
  const modelNames = async () => {
    const { json } = await call(api.url, apiKey, 'GET', '/v1/models');
    return json.data.map(({ id }: { id: string }) => id).join(' ');
  };
  try {
    expect(await modelNames()).toContain('studio-1.0');
    await writeFile(file, catalogueText.replaceAll('studio-1.0', 'studio-one'));
    api.process.kill('SIGHUP');
    await until('the new name is served', async () => (await modelNames()).endsWith('studio-one'));
    const served = await modelNames();
    await writeFile(
      file,
      catalogueText.replace('perMillionTokens: "15"', 'perMillionTokens: lots'),
    );
    api.process.kill('SIGHUP');
    await until('the fault is in the log', () => api.log().includes('perMillionTokens: must be'));
    expect(api.log()).toContain('models.\\"studio-1.0\\".prices[0]');
    expect(await modelNames()).toBe(served);
    expect(api.process.exitCode).toBeNull();
    // A catalogue without the price list of an account is a fault too.
    await database.db.raw(`update accounts set price_list = 'partner'`);
    await writeFile(file, catalogueText);
    api.process.kill('SIGHUP');
    await until('the missing list is in the log', () =>
      api.log().includes('no price list partner'),
    );
    await writeFile(file, `${catalogueText}\npriceLists: { partner: { factor: 0.8 } }\n`);
    api.process.kill('SIGHUP');
    await until('the list is served', async () => (await modelNames()).includes('studio-1.0'));
  } finally {
    await api.stop();
    await database.drop();
    await rm(folder, { recursive: true });
  }
});

interface RunningApi {
  readonly url: string;
  readonly process: ChildProcess;
  log(): string;
  stop(): Promise<void>;
}

async function startApi(catalogueFile: string, databaseUrl: string): Promise<RunningApi> {
  const child = spawn(process.execPath, [program, 'api'], {
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_TASK_QUEUE: uniqueTaskQueue(),
      CATALOGUE_FILE: catalogueFile,
      LOG_FORMAT: 'json',
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const listening = () => /"event":"listening","port":(\d+)/.exec(text)?.[1];
  await until('the API listens', () => listening() !== undefined || child.exitCode !== null);
  if (!listening()) throw new Error(`The API did not start:\n${text}`);
  return {
    url: `http://127.0.0.1:${listening()}`,
    process: child,
    log: () => text,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
