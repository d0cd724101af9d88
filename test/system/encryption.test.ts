// With ENCRYPTION_KEYS, nothing that a task stores in Temporal can be read there. A key can be
// introduced and replaced while tasks run.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listAttempts } from '../../src/callbacks/callbacks.rows';
import { startTemporal } from '../../src/embedded/temporal';
import { findTemporal } from '../../src/embedded/temporal-binary';
import type { KeyRing } from '../../src/encryption/key-ring';
import { audit } from '../../src/money/audit.rows';
import { searchAttributes } from '../../workflows/search-attributes';
import { startCallbackSink } from '../support/callback-sink';
import { type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';

const first = { id: 'first', key: Buffer.alloc(32, 1) };
const second = { id: 'second', key: Buffer.alloc(32, 2) };

// Python reads the SQLite file of Temporal, because older releases of Node cannot. The tests
// already need Python to install Temporal.
const readAll = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
for (table,) in store.execute("select name from sqlite_master where type = 'table'").fetchall():
    for row in store.execute('select * from "%s"' % table):
        for value in row:
            text = value.decode('latin-1') if isinstance(value, bytes) else str(value)
            sys.stdout.buffer.write(text.encode() + b'\\n')
`;

async function withOwnTemporal(
  use: (address: string, dump: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'video-encryption-'));
  const databaseFile = join(folder, 'temporal.db');
  const binary = await findTemporal(process.env.TEMPORAL_CLI);
  const attributes = searchAttributes.map(({ name }) => name);
  const temporal = await startTemporal({
    ...{ binary, ui: false, databaseFile, searchAttributes: attributes },
  });
  const dump = async () => {
    await temporal.stop();
    const args = ['-c', readAll, databaseFile];
    const { stdout } = await promisify(execFile)('python3', args, { maxBuffer: 2 ** 28 });
    return stdout;
  };
  try {
    await use(temporal.address, dump);
  } finally {
    await temporal.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function upload(service: Service): Promise<string> {
  const sample = await fetch(`${service.studio.url}/samples/dawn.jpg`);
  const uploaded = await fetch(`${service.url}/v1/files?name=planted-name.jpg`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: await sample.arrayBuffer(),
  });
  return ((await uploaded.json()) as { id: string }).id;
}

const planted = ['prompt', 'address', 'hook', 'person', 'option', 'reply', 'name'].map(
  (word) => `planted-${word}`,
);

/**
 * Runs a task with a planted word in each free field of a caller, until its callback is recorded.
 */
async function runTask(service: Service, hook: string): Promise<void> {
  const { json } = await service.create({
    model: 'studio-2.0',
    prompt: 'planted-prompt',
    images: [await upload(service), `${service.studio.url}/samples/dawn.jpg?planted-address`],
    resolution: '480p',
    duration: 4,
    metadata: {
      callback_url: hook,
      safety_identifier: 'planted-person',
      some_option: 'planted-option',
      labels: { team: 'open-label' },
      return_last_frame: true,
      studio: { render: 'none' },
    },
  });
  const done = await service.finished(json.id);
  expect([done.status, done.error, done.labels]).toEqual([
    'succeeded',
    undefined,
    { team: 'open-label' },
  ]);
  const path = `/v1/videos/generations/${json.id}/callbacks`;
  await until('the callback is recorded', async () => {
    return (await service.call('GET', path)).json.state === 'delivered';
  });
  const [attempt] = await listAttempts(service.db, json.id);
  expect(attempt?.reply).toBe('planted-reply');
  const listed = await service.call('GET', '/v1/tasks');
  expect(listed.json.data[0].video_url).toBe(done.video_url);
  expect((await service.call('GET', '/v1/files')).text).toContain('planted-name.jpg');
  const webhook = (await service.call('POST', '/v1/webhooks', { url: hook })).json;
  const tested = await service.call('POST', `/v1/webhooks/${webhook.id}/test`);
  expect([tested.status, tested.json.status]).toEqual([200, 200]);
}

test.each<[string, KeyRing]>([
  ["with encryption keys, a search of Temporal's database finds no label and no link", [first]],
  ['without encryption keys, the same search finds both', []],
])(
  '%s',
  async (_what, encryptionKeys) => {
    const sink = await startCallbackSink();
    sink.answer = (_, response) => void response.writeHead(200).end('planted-reply');
    try {
      await withOwnTemporal(async (temporalAddress, dumpTemporal) => {
        const allowHosts = [sink.hostPort, '127.0.0.1:9'];
        const service = await startService({ temporalAddress, allowHosts, encryptionKeys });
        try {
          await runTask(service, `${sink.url}/planted-hook`);
          expect(sink.received[0]?.url).toContain('planted-hook');
          expect(JSON.parse(sink.received[0]?.body ?? '')).toMatchObject({ status: 'succeeded' });
          expect((await audit(service.db)).differences).toEqual([]);
          const ourLinks = `${service.url}/files/`;
          const theirLinks = `${service.studio.url}/`;
          const isFound = encryptionKeys.length === 0;
          await service.stopWorker();
          const theirs = await dumpTemporal();
          // The account id is a search attribute. Search attributes are not encrypted.
          expect(theirs).toContain(service.accountId);
          for (const word of [...planted, 'open-label', ourLinks, theirLinks]) {
            // Of these words, Temporal only gets the labels and the links of the result.
            const isGiven = isFound && !word.startsWith('planted');
            expect([word, theirs.includes(word)]).toEqual([word, isGiven]);
          }
        } finally {
          await service.close();
        }
      });
    } finally {
      await sink.close();
    }
  },
  120_000,
);

test('running tasks succeed while an encryption key is introduced and replaced', async () => {
  const options: Parameters<typeof startService>[0] & object = {};
  const service = await startService(options);
  try {
    const ids: string[] = [];
    for (const keys of [[], [first], [first, second], [second, first]]) {
      await service.stopWorker();
      options.encryptionKeys = keys;
      await service.startWorker();
      const labels = { team: 'open-label' };
      const body = textTask({ run_s: 3 }, { metadata: { labels } });
      const id: string = (await service.create(body)).json.id;
      await until('its job is known', async () => {
        const rows = await service.db('jobs').where({ task_id: id });
        return rows.some((row) => row.upstream_id !== null);
      });
      ids.push(id);
    }
    for (const id of ids) {
      const done = await service.finished(id);
      expect([done.status, done.labels]).toEqual(['succeeded', { team: 'open-label' }]);
    }
  } finally {
    await service.close();
  }
});

test('with encryption keys, the reconciler runs again and again', async () => {
  const service = await startService({ encryptionKeys: [first], reconcileIntervalSeconds: 1 });
  const runs = new Set<number>();
  try {
    // A schedule gives each run the result of the one before it.
    await until(
      'four runs have ended',
      async () => {
        const row = await service.db('loops').where({ kind: 'reconciler' }).first('ran_at');
        runs.add(row.ran_at.getTime());
        // One of the times is that of the migration.
        return runs.size > 4;
      },
      60_000,
    );
  } finally {
    await service.close();
  }
});
