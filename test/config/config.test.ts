// Tests how settings are read. All faults must be reported at once. A message must be enough to
// correct the setting, and it must not contain a secret.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigError,
  demand,
  type ProcessName,
  readConfig,
  settingRows,
} from '../../src/config/config';

const complete = {
  DATABASE_URL: 'postgres://video:hidden-password@db:5432/video',
  TEMPORAL_ADDRESS: 'temporal:7233',
  STUDIO_API_KEY: 'studio-key',
};

const wholeS3 = {
  S3_BUCKET: 'videos',
  S3_ENDPOINT: 'https://s3.example.com',
  S3_ACCESS_KEY_ID: 'an id',
  S3_SECRET_ACCESS_KEY: 'a secret',
};

const faultsOf = (process: ProcessName, environment: Record<string, string>): readonly string[] => {
  try {
    readConfig(process, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
};

describe('an invalid value', () => {
  const whole = (min: number, max: number) => `${min} to ${max}`;
  const bool = 'true or false';
  const anOrigin = 'https://video.example.com';
  const aWebAddress = 'http:// or https://';

  test.each([
    ['PORT', '80 80', whole(0, 65_535)],
    ['PORT', '65536', whole(0, 65_535)],
    ['PORT', '-1', whole(0, 65_535)],
    ['PORT', '0x50', whole(0, 65_535)],
    ['PORT', '8080.5', whole(0, 65_535)],
    ['METRICS_PORT', 'none', whole(0, 65_535)],
    ['DATABASE_POOL_MAX', '1', whole(2, 500)],
    ['CREATE_RATE_PER_SECOND', '3s', whole(1, 100_000)],
    ['CREATE_RATE_PER_SECOND', '1e3', whole(1, 100_000)],
    ['CREATE_RATE_PER_SECOND', '99999999999999999999', whole(1, 100_000)],
    ['RECONCILE_INTERVAL_SECONDS', '0', whole(1, 3_600)],
    ['PLAYGROUND', 'yes', bool],
    ['TEMPORAL_TLS', 'on', bool],
    ['PUBLIC_URL', 'video.example.com', anOrigin],
    ['PUBLIC_URL', 'https://video.example.com/api', anOrigin],
    ['PUBLIC_URL', 'ftp://video.example.com', anOrigin],
    ['STUDIO_URL', 'http://studio:8090/v1', anOrigin],
    ['TEMPORAL_UI_URL', 'temporal:8233', aWebAddress],
    ['TEMPORAL_ADDRESS', 'temporal', 'host:port'],
    ['TEMPORAL_ADDRESS', 'http://temporal:7233', 'host:port'],
    ['TEMPORAL_ADDRESS', 'temporal:0', 'host:port'],
    ['TEMPORAL_ADDRESS', 'temporal:65536', 'host:port'],
    ['CURRENCY', 'yuan', 'three capital letters'],
    ['LOG_LEVEL', 'verbose', 'warn, error, fatal'],
    ['LOG_FORMAT', 'xml', 'one of json, pretty'],
  ])('in %s=%s is reported with the given value and the rule', (name, given, wanted) => {
    const [fault, ...more] = faultsOf('dev', { [name]: given });
    expect(more).toEqual([]);
    expect(fault).toContain(`${name} is ${JSON.stringify(given)}; `);
    expect(fault).toContain(wanted);
  });

  test.each([
    ['DATABASE_URL', 'mysql://root:hunter2@db/x', 'postgres:// or postgresql://'],
    ['STUDIO_API_KEY', 'hunter2', 'at least 8 characters'],
  ])('in the secret setting %s is not quoted in the message', (name, given, wanted) => {
    const [fault = ''] = faultsOf('dev', { [name]: given });
    expect(fault).toContain(`${name} is set to something else`);
    expect(fault).toContain(wanted);
    expect(fault).not.toContain('hunter2');
  });

  test.each([
    ['a key that is too short', '2026:c2hvcnQ='],
    ['a key without an id', Buffer.alloc(32).toString('base64')],
    [
      'the same id twice',
      `a:${Buffer.alloc(32, 1).toString('base64')},a:${Buffer.alloc(32, 2).toString('base64')}`,
    ],
  ])('in ENCRYPTION_KEYS (%s) is refused and not quoted', (_, given) => {
    const [fault = ''] = faultsOf('dev', { ENCRYPTION_KEYS: given });
    expect(fault).toMatch(/^ENCRYPTION_KEYS is set .*id:key/);
    expect(fault).not.toContain(given);
  });

  test('is reported together with all other faults and missing settings', () => {
    const faults = faultsOf('api', {
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      DANGEROUSLY_ALLOW_HOSTS: 'studio:8090,studio',
      TEMPORAL_ADDRESS: 'temporal:7233',
    });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'PORT',
      'DANGEROUSLY_ALLOW_HOSTS',
      'LOG_LEVEL',
      'DATABASE_URL',
    ]);
    const { message } = new ConfigError(faults);
    expect(message.split('\n')).toHaveLength(1 + faults.length);
  });
});

describe('a setting', () => {
  test.each([
    ['api', ['DATABASE_URL', 'TEMPORAL_ADDRESS']],
    ['worker', ['DATABASE_URL', 'TEMPORAL_ADDRESS']],
    ['studio', ['STUDIO_API_KEY']],
    ['admin', []],
    ['dev', []],
  ] as const)(
    'that is missing prevents the start of the process %s if the setting is one of %j',
    (process, names) => {
      const faults = faultsOf(process, {});
      expect(faults).toHaveLength(names.length);
      names.forEach((name, at) => {
        expect(faults[at]).toMatch(new RegExp(`^${name} is not set \\(.+\\)\\.$`));
      });
      expect(faultsOf(process, complete)).toEqual([]);
    },
  );

  test.each(['api', 'worker', 'dev'] as const)(
    'of S3 that is missing prevents the start of the process %s',
    (process) => {
      const needs = 'S3_BUCKET, S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY';
      const half = { ...complete, S3_BUCKET: 'videos', S3_ACCESS_KEY_ID: 'an id' };
      expect(faultsOf(process, half)).toEqual(
        ['S3_ENDPOINT', 'S3_SECRET_ACCESS_KEY'].map((name) =>
          expect.stringMatching(`^${name} is not set.* ${needs}`),
        ),
      );
      expect(faultsOf(process, { ...complete, ...wholeS3 })).toEqual([]);
      expect(faultsOf(process, { ...complete, S3_REGION: 'eu-central-1' })).toEqual([]);
      const byHost = { ...complete, ...wholeS3, S3_PATH_STYLE: '0' };
      expect(faultsOf(process, byHost)).toEqual([]);
      const byNumber = { ...byHost, S3_ENDPOINT: 'https://203.0.113.5:9000' };
      expect(faultsOf(process, byNumber)).toEqual([
        expect.stringMatching(/^S3_PATH_STYLE is false/),
      ]);
    },
  );

  test.each(['console', 'codec'] as const)(
    'of S3 that is missing does not prevent the start of the process %s, which opens no storage',
    (process) => {
      const { S3_BUCKET, S3_ENDPOINT } = wholeS3;
      const known = { ...complete, ENCRYPTION_KEYS: `k:${'A'.repeat(43)}=` };
      expect(faultsOf(process, { ...known, S3_BUCKET, S3_ENDPOINT })).toEqual([]);
    },
  );

  test('that is a secret has no default', () => {
    const secrets = settingRows().filter(({ secret }) => secret);
    expect(secrets.map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'TEMPORAL_TLS_CA',
      'TEMPORAL_TLS_CERT',
      'TEMPORAL_TLS_KEY',
      'TEMPORAL_API_KEY',
      'ENCRYPTION_KEYS',
      'S3_ACCESS_KEY_ID',
      'S3_SECRET_ACCESS_KEY',
      'STUDIO_API_KEY',
    ]);
    for (const { otherwise } of secrets) expect(otherwise).toBe('');
  });

  test('with KEY, SECRET or PASSWORD in its name is always a secret', () => {
    const sounding = settingRows().filter(({ name }) => /KEY|SECRET|PASSWORD/.test(name));
    expect(sounding.filter(({ secret }) => !secret)).toEqual([]);
  });

  test('with an empty value counts as missing', () => {
    const config = readConfig('dev', { PORT: '', DATABASE_URL: '', PLAYGROUND: '' });
    expect(config).toMatchObject({ port: 8080, databaseUrl: null, playground: false });
    expect(faultsOf('api', { ...complete, DATABASE_URL: '' })).toHaveLength(1);
  });

  test('can be required by one command of a program, although the program starts without the setting', () => {
    const config = readConfig('admin', { TEMPORAL_ADDRESS: 'temporal:7233' });
    expect(() => demand(config, ['TEMPORAL_ADDRESS'])).not.toThrow();
    expect(() => demand(config, ['DATABASE_URL', 'STUDIO_API_KEY', 'TEMPORAL_ADDRESS'])).toThrow(
      /DATABASE_URL is not set[\s\S]*STUDIO_API_KEY is not set/,
    );
  });
});

describe('a valid value', () => {
  test.each([
    ['PORT', '0', 'port', 0],
    ['PORT', ' 9000 ', 'port', 9000],
    ['PLAYGROUND', 'TRUE', 'playground', true],
    ['PLAYGROUND', '0', 'playground', false],
    ['PUBLIC_URL', 'https://Video.example.com/', 'publicUrl', 'https://video.example.com'],
    ['TEMPORAL_UI_URL', 'https://ui.example.com/t/', 'temporalUiUrl', 'https://ui.example.com/t'],
    ['TEMPORAL_ADDRESS', '[::1]:7233', 'temporalAddress', '[::1]:7233'],
    [
      'CORS_ORIGINS',
      'https://a.example, https://b.example,',
      'corsOrigins',
      ['https://a.example', 'https://b.example'],
    ],
    ['METRICS_PORT', '9464', 'metricsPort', 9464],
  ])('in %s=%s is read', (name, given, key, value) => {
    expect(readConfig('dev', { [name]: given })).toMatchObject({ [key]: value });
  });

  test('of a variable that is no setting stays in the environment, because the catalogue may name that variable', () => {
    const config = readConfig('dev', { ARK_API_KEY: 'x', PORTS: 'y' });
    expect(config.environment).toEqual({ ARK_API_KEY: 'x', PORTS: 'y' });
  });

  test('cannot be changed after the config was read', () => {
    const config = readConfig('dev', {});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.environment)).toBe(true);
  });
});

describe('DANGEROUSLY_ALLOW_HOSTS', () => {
  test('is empty by default', () => {
    expect(readConfig('api', complete).dangerouslyAllowHosts).toEqual([]);
    expect(readConfig('worker', complete).dangerouslyAllowHosts).toEqual([]);
  });

  test('takes exact pairs of host and port', () => {
    // The host of a URL is in lower case too.
    const given = 'Studio:8090, 127.0.0.1:9000,[::1]:9000';
    expect(readConfig('dev', { DANGEROUSLY_ALLOW_HOSTS: given }).dangerouslyAllowHosts).toEqual([
      'studio:8090',
      '127.0.0.1:9000',
      '[::1]:9000',
    ]);
  });

  test.each([
    'studio',
    'http://studio:8090',
    'studio:8090/path',
    '10.0.0.0/8',
    'a@studio:80',
    ':80',
  ])('refuses %s and names the faulty entry', (wrong) => {
    expect(faultsOf('dev', { DANGEROUSLY_ALLOW_HOSTS: `ok.example:80,${wrong}` })).toEqual([
      expect.stringContaining(`wanted: host:port, not ${JSON.stringify(wrong)}`),
    ]);
  });

  test('has one list for callers and one for providers, and no other setting begins with DANGEROUSLY_', () => {
    const dangerous = settingRows().filter(({ name }) => name.startsWith('DANGEROUSLY_'));
    expect(dangerous.map(({ name, otherwise }) => [name, otherwise])).toEqual([
      ['DANGEROUSLY_ALLOW_HOSTS', ''],
      ['DANGEROUSLY_ALLOW_PROVIDER_HOSTS', ''],
    ]);
  });
});

describe('the table of settings', () => {
  test('has a sentence for every setting, and the name of a duration ends with its unit', () => {
    for (const { name, sentence } of settingRows()) {
      expect([name, sentence]).toEqual([name, expect.stringMatching(/^[A-Z\d`].{9,160}\.$/)]);
      if (/TIMEOUT|INTERVAL/.test(name)) expect(name).toMatch(/_(MS|SECONDS)$/);
    }
  });
});

describe('a secret in a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'video-secrets-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const fileWith = (text: string) => {
    const path = join(folder, 'secret');
    writeFileSync(path, text);
    return path;
  };
  const secrets = settingRows().filter(({ secret }) => secret);

  const ofAKind: Readonly<Record<string, string>> = {
    DATABASE_URL: complete.DATABASE_URL,
    ENCRYPTION_KEYS: `2026:${Buffer.alloc(32).toString('base64')}`,
  };

  // The settings of one group are valid only together.
  const certificate = { TEMPORAL_TLS_CERT: 'some text', TEMPORAL_TLS_KEY: 'some text' };
  const needed: readonly Readonly<Record<string, string>>[] = [wholeS3, certificate];

  test.each(secrets.map(({ name }) => name))(
    'is the value of %s if the _FILE variable of that setting names the file',
    (name) => {
      const text = ofAKind[name] ?? 'a secret of enough length';
      const rest = needed.find((names) => name in names) ?? {};
      const others = { ...rest, [name]: '' };
      const inFile = { ...others, [`${name}_FILE`]: fileWith(`${text}\n`) };
      const { environment } = readConfig('dev', inFile);
      expect(environment[name]).toBe(text);
      const faults = faultsOf('dev', { ...others, [`${name}_FILE`]: join(folder, 'none') });
      expect(faults).toEqual([
        expect.stringMatching(`^${name}_FILE is "${join(folder, 'none')}"; .*ENOENT`),
      ]);
    },
  );

  test('is validated like a value in the environment', () => {
    const { STUDIO_API_KEY, ...others } = complete;
    const config = readConfig('studio', {
      ...others,
      STUDIO_API_KEY_FILE: fileWith(STUDIO_API_KEY),
    });
    expect(config.studioApiKey).toBe(STUDIO_API_KEY);
    const faults = faultsOf('studio', { ...others, STUDIO_API_KEY_FILE: fileWith('hunter2') });
    expect(faults).toEqual([expect.stringMatching(/^STUDIO_API_KEY is set to something/)]);
  });

  test.each(['ARK_API_KEY', 'ARK_API_KEY_2'])(
    'may be the API key of a channel in %s, although only the catalogue names this variable',
    (name) => {
      const file = fileWith('an upstream key\n');
      const { environment } = readConfig('dev', { [`${name}_FILE`]: file });
      expect(environment[name]).toBe('an upstream key');
    },
  );

  test('is copied into `environment` of the config, so that a process with this environment also has the secret', () => {
    const { STUDIO_API_KEY, ...others } = complete;
    const given = { ...others, STUDIO_API_KEY_FILE: fileWith(STUDIO_API_KEY) };
    const { environment } = readConfig('studio', given);
    expect(readConfig('studio', environment).studioApiKey).toBe(STUDIO_API_KEY);
  });

  test('is refused if the setting itself is also set, or if the file is empty', () => {
    const both = { ...complete, STUDIO_API_KEY_FILE: fileWith('another key for tests') };
    expect(faultsOf('studio', both)).toEqual([
      expect.stringMatching(/^STUDIO_API_KEY and STUDIO_API_KEY_FILE are both/),
    ]);
    const empty = { ...complete, STUDIO_API_KEY: '', STUDIO_API_KEY_FILE: fileWith('\n') };
    expect(faultsOf('studio', empty)).toEqual([expect.stringMatching(/; the file is empty\.$/)]);
  });

  test('cannot set `LOG_LEVEL`, because only the value of a secret is read from a file', () => {
    const config = readConfig('dev', { CATALOGUE_FILE: 'other.yaml', LOG_LEVEL_FILE: '/none' });
    expect(config.catalogueFile).toBe('other.yaml');
  });
});
