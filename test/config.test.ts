// The reading of settings: whatever is wrong is said at once, in words that suffice to mend it, and
// no secret is among them.

import { ConfigError, demand, type ProcessName, readConfig, settingRows } from '../src/config';

const complete = {
  DATABASE_URL: 'postgres://video:hidden-password@db:5432/video',
  TEMPORAL_ADDRESS: 'temporal:7233',
  API_KEY_PEPPER: 'a pepper of enough length',
  STUDIO_API_KEY: 'studio-key',
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

describe('a wrong value', () => {
  const whole = (min: number, max: number) => `a whole number from ${min} to ${max}`;
  const bool = 'true or false';
  const anOrigin = 'an http(s) origin such as https://video.example.com, without a path';
  const aWebAddress = 'an address beginning with http:// or https://';

  test.each([
    ['PORT', '80 80', whole(0, 65_535)],
    ['PORT', '65536', whole(0, 65_535)],
    ['PORT', '-1', whole(0, 65_535)],
    ['PORT', '0x50', whole(0, 65_535)],
    ['PORT', '8080.5', whole(0, 65_535)],
    ['METRICS_PORT', 'none', whole(0, 65_535)],
    ['DATABASE_POOL_MAX', '1', whole(2, 500)],
    ['ACCEPT_TIMEOUT_MS', '3s', whole(100, 30_000)],
    ['ACCEPT_TIMEOUT_MS', '1e3', whole(100, 30_000)],
    ['ACCEPT_TIMEOUT_MS', '99999999999999999999', whole(100, 30_000)],
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
    ['LOG_LEVEL', 'verbose', 'one of trace, debug, info, warn, error, fatal'],
    ['LOG_FORMAT', 'xml', 'one of json, pretty'],
  ])('%s=%s is told with what was given and what is wanted', (name, given, wanted) => {
    expect(faultsOf('dev', { [name]: given })).toEqual([
      `${name} is ${JSON.stringify(given)}; wanted: ${wanted}.`,
    ]);
  });

  test.each([
    ['DATABASE_URL', 'mysql://root:hunter2@db/x', 'postgres:// or postgresql://'],
    ['API_KEY_PEPPER', 'hunter2', 'at least 16 characters'],
    ['STUDIO_API_KEY', 'hunter2', 'at least 8 characters'],
    ['STUDIO_ADMIN_KEY', 'hunter2', 'at least 8 characters'],
  ])('%s is a secret and is not repeated', (name, given, wanted) => {
    const [fault = ''] = faultsOf('dev', { [name]: given });
    expect(fault).toContain(`${name} is set to something else; wanted: `);
    expect(fault).toContain(wanted);
    expect(fault).not.toContain('hunter2');
  });

  test('all of them are told at once, with what is missing', () => {
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
      'API_KEY_PEPPER',
    ]);
    const { message } = new ConfigError(faults);
    expect(message.split('\n')).toHaveLength(1 + faults.length);
  });
});

describe('what is not set', () => {
  test.each([
    ['api', ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'API_KEY_PEPPER']],
    ['worker', ['DATABASE_URL', 'TEMPORAL_ADDRESS']],
    ['migrate', ['DATABASE_URL', 'TEMPORAL_ADDRESS']],
    ['studio', ['STUDIO_API_KEY']],
    ['admin', []],
    ['dev', []],
  ] as const)('%s cannot do without %j', (process, names) => {
    const faults = faultsOf(process, {});
    expect(faults).toHaveLength(names.length);
    names.forEach((name, at) => {
      expect(faults[at]).toMatch(new RegExp(`^${name} is not set\\. It is: .+\\.$`));
    });
    expect(faultsOf(process, complete)).toEqual([]);
  });

  test('no secret has a default', () => {
    const secrets = settingRows().filter(({ secret }) => secret);
    expect(secrets.map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'TEMPORAL_API_KEY',
      'API_KEY_PEPPER',
      'STUDIO_API_KEY',
      'STUDIO_ADMIN_KEY',
    ]);
    for (const { otherwise } of secrets) expect(otherwise).toBe('');
  });

  test('whatever sounds like a secret is treated as one', () => {
    const sounding = settingRows().filter(({ name }) => /KEY|PEPPER|SECRET|PASSWORD/.test(name));
    expect(sounding.filter(({ secret }) => !secret)).toEqual([]);
  });

  test('an empty value is an absent one', () => {
    const config = readConfig('dev', { PORT: '', DATABASE_URL: '', PLAYGROUND: '' });
    expect(config).toMatchObject({ port: 8080, databaseUrl: null, playground: false });
    expect(faultsOf('api', { ...complete, API_KEY_PEPPER: '' })).toHaveLength(1);
  });

  test('a command can demand more than its process needs', () => {
    const config = readConfig('admin', { TEMPORAL_ADDRESS: 'temporal:7233' });
    expect(() => demand(config, ['TEMPORAL_ADDRESS'])).not.toThrow();
    expect(() => demand(config, ['DATABASE_URL', 'API_KEY_PEPPER', 'TEMPORAL_ADDRESS'])).toThrow(
      /DATABASE_URL is not set[\s\S]*API_KEY_PEPPER is not set/,
    );
  });
});

describe('what is set', () => {
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
  ])('%s=%s', (name, given, key, value) => {
    expect(readConfig('dev', { [name]: given })).toMatchObject({ [key]: value });
  });

  test('what we do not know is left alone, for the catalogue to name', () => {
    const config = readConfig('dev', { ARK_API_KEY: 'x', PORTS: 'y' });
    expect(config.environment).toEqual({ ARK_API_KEY: 'x', PORTS: 'y' });
  });

  test('a config cannot be changed', () => {
    const config = readConfig('dev', {});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.environment)).toBe(true);
  });
});

describe('DANGEROUSLY_ALLOW_HOSTS', () => {
  test('is empty unless somebody sets it', () => {
    expect(readConfig('api', complete).dangerouslyAllowHosts).toEqual([]);
    expect(readConfig('worker', complete).dangerouslyAllowHosts).toEqual([]);
  });

  test('takes exact pairs of host and port', () => {
    const given = 'studio:8090, 127.0.0.1:9000,[::1]:9000';
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
  ])('refuses %s and says which of several it was', (wrong) => {
    expect(faultsOf('dev', { DANGEROUSLY_ALLOW_HOSTS: `ok.example:80,${wrong}` })).toEqual([
      expect.stringContaining(`wanted: host:port, not ${JSON.stringify(wrong)}`),
    ]);
  });

  test('is the only dangerous switch there is', () => {
    const dangerous = settingRows().filter(({ name }) => name.startsWith('DANGEROUSLY_'));
    expect(dangerous.map(({ name, otherwise }) => [name, otherwise])).toEqual([
      ['DANGEROUSLY_ALLOW_HOSTS', ''],
    ]);
  });
});

describe('the table for readers', () => {
  test('every setting has a sentence, and a unit where it is a length of time', () => {
    for (const { name, sentence } of settingRows()) {
      expect([name, sentence]).toEqual([name, expect.stringMatching(/^[A-Z\d`].{9,160}\.$/)]);
      if (/TIMEOUT|INTERVAL/.test(name)) expect(name).toMatch(/_(MS|SECONDS)$/);
    }
  });
});
