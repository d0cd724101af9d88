// Starts processes with invalid settings, flags and catalogues. Each process prints one clear
// sentence per fault and exits with 2 before it starts anything. If a valid address does not
// answer, the process exits with 1.

import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { dev } from '../../src/dev-stack/dev';
import { createLogger } from '../../src/telemetry/logger';
import { createTestDatabase } from '../support/database';
import { aDataDir, type DataDir, endAllProcesses, runProcess } from '../support/processes';
import { temporalAddress } from '../support/temporal';

let data: DataDir;
beforeAll(async () => {
  data = await aDataDir();
});
afterAll(async () => {
  await endAllProcesses();
  await data.remove();
});

const stackTrace = /\n\s+at /;

test.each<[string, string[], Record<string, string>, RegExp]>([
  ['no process', [], {}, /^Which process\?\nUsage: /],
  ['an unknown process', ['apo'], {}, /^There is no process "apo"\.\nUsage: /],
  [
    'a missing setting',
    ['worker'],
    { DATABASE_URL: 'postgres://a/b' },
    /TEMPORAL_ADDRESS is not set .*host:port/,
  ],
  [
    'several invalid settings',
    ['dev'],
    { PORT: '80a0', LOG_LEVEL: 'loud', STUDIO_API_KEY: 'short' },
    /^The environment cannot be used:\n +PORT is "80a0"; wanted: a whole number from 0 to 65535\.\n +STUDIO_API_KEY is set to something else; wanted: .*\n +LOG_LEVEL is "loud"; wanted: one of trace, .*\n$/,
  ],
  [
    'a worker without the key of a channel',
    ['worker'],
    { DATABASE_URL: 'postgres://a/b', TEMPORAL_ADDRESS: 'a:1', STUDIO_URL: 'http://a' },
    /^STUDIO_API_KEY is not set\. catalogue\.yaml .* studio, .+\n$/,
  ],
  [
    'a worker with a line break in the key of a channel',
    ['worker'],
    {
      ...{ DATABASE_URL: 'postgres://a/b', TEMPORAL_ADDRESS: 'a:1', STUDIO_URL: 'http://a' },
      STUDIO_API_KEY: 'a-key-with-a-line-break\n',
    },
    /^STUDIO_API_KEY .*line break .*\. catalogue\.yaml /,
  ],
  [
    'a stack without the key of a channel',
    ['dev'],
    { CATALOGUE_FILE: 'catalogue.ark.yaml' },
    /^ARK_API_KEY is not set\..*\nMEDIAKIT_API_KEY is not set\./,
  ],
  [
    'a stack without a database and DATABASE_URL',
    ['dev', '--without', 'postgres'],
    {},
    /DATABASE_URL has to say/,
  ],
  [
    'a stack without Temporal and TEMPORAL_ADDRESS',
    ['dev', '--without', 'temporal'],
    {},
    /TEMPORAL_ADDRESS has to say/,
  ],
  [
    'a missing catalogue file',
    ['dev'],
    { CATALOGUE_FILE: '/none.yaml' },
    /none\.yaml cannot be used:\n.*ENOENT/,
  ],
  ['a catalogue in another currency', ['dev'], { CURRENCY: 'USD' }, /CURRENCY is USD.* CNY/],
  [
    'a TEMPORAL_CLI that does not exist',
    ['dev'],
    { TEMPORAL_CLI: '/none' },
    /^TEMPORAL_CLI is \/none/m,
  ],
])('a start with this fault exits with 2: %s', async (_what, args, over, sentence) => {
  const ended = await runProcess(args, { DATA_DIR: data.path, PORT: '0', ...over });
  expect(ended).toMatchObject({ code: 2, err: expect.stringMatching(sentence) });
  expect(ended.err).not.toMatch(stackTrace);
  expect(readdirSync(data.path)).not.toContain('dev.json');
});

test.each<[string, string[], Record<string, string>, RegExp]>([
  [
    'an unknown flag',
    ['--witout', 'api'],
    {},
    /'--witout'.*\nUsage: npm start .*\n.*--without <parts>/,
  ],
  [
    'a receiver without a port',
    ['--receiver', '127.0.0.1'],
    {},
    /--receiver .*host:port.* not "127\.0\.0\.1"/,
  ],
  ['an unknown part', ['--without', 'apo'], {}, /--without .*postgres, .*not "apo"/],
  [
    'data to set aside that are not in the data folder',
    ['--set-aside'],
    { DATABASE_URL: 'postgres://user@127.0.0.1:1/video' },
    /--set-aside moves the data folder, and not what DATABASE_URL names/,
  ],
])('the options of `dev` have this fault: %s', async (_what, args, over, sentence) => {
  const config = readConfig('dev', { DATA_DIR: data.path, PORT: '0', ...over });
  const log = createLogger({ level: 'fatal', format: 'json', name: 'dev' });
  await expect(dev({ config, log, args })).rejects.toMatchObject({
    ...{ name: 'CommandError', exitCode: 2 },
    message: expect.stringMatching(sentence),
  });
  expect(readdirSync(data.path)).not.toContain('dev.json');
});

test('`--help` prints the options and the names of the parts and starts nothing', async () => {
  const { code, out, err } = await runProcess(['dev', '--help'], { DATA_DIR: data.path });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^Usage: npm start .*\n.*postgres, temporal, studio, worker, api, console\n/);
  expect(readdirSync(data.path)).not.toContain('dev.json');
});

test('all faults of a catalogue are reported at once', async () => {
  const file = join(data.path, 'catalogue.yaml');
  await writeFile(file, 'currency: CNY\nchannels: 7\nmodels: {}\nnonsense: 1\n');
  const { code, err } = await runProcess(['dev'], {
    DATA_DIR: data.path,
    PORT: '0',
    CATALOGUE_FILE: file,
  });
  expect(code).toBe(2);
  expect(err).toMatch(/channels/);
  expect(err).toMatch(/nonsense/);
});

test('a configured Temporal that does not answer is reported, and nothing is started', async () => {
  const own = await createTestDatabase(1);
  try {
    const ended = await runProcess(['dev'], {
      DATA_DIR: data.path,
      PORT: '0',
      DATABASE_URL: own.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    });
    expect(ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^Temporal .*127\.0\.0\.1:1 \(TEMPORAL_ADDRESS\) .*"default".+\n$/,
      ),
    });
    expect(ended.out).not.toContain('starting');
  } finally {
    await own.drop();
  }
});

test('a namespace that Temporal does not have is reported', async () => {
  const { code, err } = await runProcess(['dev'], {
    DATA_DIR: data.path,
    PORT: '0',
    DATABASE_URL: process.env.TEST_DATABASE_URL ?? '',
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_NAMESPACE: 'nobody-made-this',
  });
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('nobody-made-this') });
});

test('a configured database that does not answer is reported without its password', async () => {
  const given = { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/video' };
  for (const args of [['dev'], ['admin', 'migrate']]) {
    const { code, err } = await runProcess(args, {
      ...{ DATA_DIR: data.path, PORT: '0', TEMPORAL_ADDRESS: temporalAddress() },
      ...given,
    });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^The database at 127\.0\.0\.1:1\/video .* ECONNREFUSED/),
    });
    expect(err).not.toContain('hidden');
  }
});

test('every process refuses a database of another version and leaves it unchanged', async () => {
  const own = await createTestDatabase(1);
  try {
    await own.db('schema_migrations').update({ name: '9999_of_another_version' });
    const steps = await own.db('schema_migrations');
    const environment = {
      ...{ DATA_DIR: data.path, PORT: '0', STUDIO_URL: 'http://127.0.0.1:1' },
      ...{ DATABASE_URL: own.url, TEMPORAL_ADDRESS: temporalAddress() },
      STUDIO_API_KEY: 'a key for tests',
    };
    const processes = [['api'], ['worker'], ['admin', 'migrate'], ['dev', '--without', 'studio']];
    const ended = await Promise.all(processes.map((args) => runProcess(args, environment)));
    for (const { code, err } of ended) {
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringMatching(
          /^The database was made by another version of the service \(it has 9999_of_another_version\), and nothing was changed: use the version that ran on it last, or an empty database\.\n$/,
        ),
      });
    }
    expect(await own.db('schema_migrations')).toEqual(steps);
    expect(await own.db('accounts')).toEqual([]);
  } finally {
    await own.drop();
  }
});
