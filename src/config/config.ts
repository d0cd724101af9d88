// Reads all settings from the environment and reports all faults together. Each fault shows the
// accepted values and the given value, but never the value of a secret. Only main.ts, the commands
// and dev-stack see the whole config. The API and the activities get a part of it, and all other code
// single values.

import type { z } from 'zod';
import { type Environment, secretFilesIn } from './secret-files';
import { table } from './setting-table';

type Table = z.infer<typeof table>;
type SettingName = keyof Table;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;

/** Settings by their name in code: DATABASE_POOL_MAX is `databasePoolMax`. */
type Settings = { readonly [N in SettingName as CamelCase<N>]: Table[N] };

export interface Config extends Settings {
  readonly publicUrl: string;
  readonly consoleUrl: string;
  /**
   * The environment variables, and the secrets that were read from files. The catalogue refers to
   * variables by name, for the addresses and keys of channels.
   */
  readonly environment: Environment;
}

/**
 * For each kind of process, the settings that must be set. All other settings are optional or have
 * a default.
 */
const required = {
  api: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  worker: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  studio: ['STUDIO_API_KEY'],
  console: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  admin: [],
  codec: ['ENCRYPTION_KEYS'],
  dev: [],
} as const satisfies Record<string, readonly SettingName[]>;

/** If one of these settings is set, all of them are required by a process that opens the storage. */
const ofS3 = [
  'S3_BUCKET',
  'S3_ENDPOINT',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
] as const satisfies readonly SettingName[];

/**
 * Processes that get the settings of all processes, but no key of the bucket. The page of the console names
 * the address of the bucket.
 */
const withoutStorage: readonly string[] = ['console', 'codec'];

/** The client certificate and its key must be set together. */
const certificate = [
  'TEMPORAL_TLS_CERT',
  'TEMPORAL_TLS_KEY',
] as const satisfies readonly SettingName[];

export type ProcessName = keyof typeof required;

/** A config in which the settings N are not null. */
type ConfigWith<N extends SettingName> = Config & {
  readonly [K in N as CamelCase<K>]: NonNullable<Table[K]>;
};
export type ConfigOf<P extends ProcessName> = ConfigWith<(typeof required)[P][number]>;

/** Contains one message per fault. Each message names the variable and how to correct it. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The environment cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export function readConfig<P extends ProcessName>(
  process: P,
  environment: Environment,
): ConfigOf<P> {
  const files = secretFilesIn(environment, isSecret);
  const given = Object.fromEntries(
    // An empty value counts as absent, because compose files and shells pass unset variables that
    // way.
    Object.entries({ ...environment, ...files.values }).filter(
      ([name, value]) => Object.hasOwn(table.shape, name) && value !== '',
    ),
  );
  const checked = table.safeParse(given);
  const faults = checked.success
    ? []
    : checked.error.issues.map(({ path, message }) => faultOf(String(path[0]), message, given));
  faults.push(...files.faults);
  const isSet = (name: SettingName) => given[name] !== undefined || files.named.has(name);
  for (const name of required[process]) {
    if (!isSet(name)) faults.push(missing(name));
  }
  const opensStorage = !withoutStorage.includes(process);
  if (opensStorage && ofS3.some(isSet))
    faults.push(...ofS3.filter((name) => !isSet(name)).map(missingForS3));
  faults.push(...halfOf(certificate.filter(isSet)));
  if (checked.data?.S3_PATH_STYLE === false) faults.push(...bucketFaults(given.S3_ENDPOINT));
  if (process === 'console' && checked.data) faults.push(...consoleFaults(checked.data));
  if (faults.length > 0) throw new ConfigError(faults);
  const values = Object.entries(checked.data ?? {}).map(([name, value]) => [
    camelCase(name),
    value,
  ]);
  const settings = Object.fromEntries(values) as Settings;
  return Object.freeze({
    ...settings,
    publicUrl: settings.publicUrl ?? `http://localhost:${settings.port}`,
    consoleUrl: settings.consoleUrl ?? `http://localhost:${settings.consolePort}`,
    environment: Object.freeze(withValues(environment, files.values)),
  }) as ConfigOf<P>;
}

/**
 * Replaces each NAME_FILE by NAME. If both variables stayed, a second `readConfig` of the result
 * would report a fault.
 */
function withValues(environment: Environment, values: Readonly<Record<string, string>>) {
  const read = Object.keys(values).map((name) => `${name}_FILE`);
  const rest = Object.entries(environment).filter(([name]) => !read.includes(name));
  return { ...Object.fromEntries(rest), ...values };
}

/**
 * Throws a ConfigError if one of these settings is not set. Commands use this check for settings
 * that they need only with some of their options.
 */
export function demand<N extends SettingName>(config: Config, names: readonly N[]): ConfigWith<N> {
  const absent = names.filter((name) => {
    return (config as unknown as Record<string, unknown>)[camelCase(name)] === null;
  });
  if (absent.length > 0) {
    throw new ConfigError(absent.map(missing));
  }
  return config as ConfigWith<N>;
}

export interface SettingRow {
  readonly name: SettingName;
  readonly otherwise: string;
  readonly sentence: string;
  readonly secret: boolean;
}

/** The rows of the table in docs/settings.md. A test compares the table with these rows. */
export function settingRows(): SettingRow[] {
  const defaults = table.parse({}) as Record<string, unknown>;
  return Object.entries(table.shape).map(([name, schema]) => ({
    name: name as SettingName,
    otherwise: defaults[name] === null ? '' : [defaults[name]].flat().join(','),
    sentence: schema.description ?? '',
    secret: schema.meta()?.secret === true,
  }));
}

function faultOf(name: string, wanted: string, given: Record<string, string | undefined>): string {
  return `${name} is ${isSecret(name) ? 'set to something else' : JSON.stringify(given[name])}; wanted: ${wanted}.`;
}

/**
 * The catalogue names the variables that contain the keys of channels. So any variable that is not
 * a setting counts as secret if its name ends with _KEY or contains _KEY_, such as ARK_API_KEY_2.
 */
function isSecret(name: string): boolean {
  if (!Object.hasOwn(table.shape, name)) return /_KEY(_|$)/.test(name);
  return settingRows().some((row) => row.name === name && row.secret);
}

/** Returns one fault if only the certificate or only its key is set; otherwise an empty list. */
function halfOf([set, ...others]: readonly string[]): string[] {
  if (set === undefined || others.length > 0) return [];
  const absent = certificate.find((name) => name !== set);
  return [`${absent} is not set, but ${set} is. Set ${absent} or ${absent}_FILE too.`];
}

/** The name of a bucket cannot be part of an address that is a number. */
function bucketFaults(endpoint = ''): string[] {
  const isNumber = URL.canParse(endpoint) && /^[\d.]+$|:/.test(new URL(endpoint).hostname);
  if (!isNumber) return [];
  return [
    'S3_PATH_STYLE is false, so S3_ENDPOINT needs a host with a name; leave S3_PATH_STYLE out.',
  ];
}

/**
 * A cookie ignores ports, so an API on the host name of the console would be sent the cookies of
 * operators. Without TLS, anyone on the way could read them.
 */
function consoleFaults({ CONSOLE_URL: consoleUrl, PUBLIC_URL: publicUrl }: Table): string[] {
  if (consoleUrl === null) return [];
  const { protocol, hostname } = new URL(consoleUrl);
  if (/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return [];
  const isShared = publicUrl !== null && new URL(publicUrl).hostname === hostname;
  return [
    ...(protocol === 'https:'
      ? []
      : ['CONSOLE_URL must begin with https://, except on localhost.']),
    ...(isShared
      ? [
          `CONSOLE_URL has the host name of PUBLIC_URL, so browsers would send the cookies of operators to the API. Give the console a host name of its own.`,
        ]
      : []),
  ];
}

/** For example `DATABASE_URL is not set (the PostgreSQL database).` */
function missing(name: SettingName): string {
  const [first = '', ...rest] = (table.shape[name].description ?? '').replace(/\.$/, '').split(' ');
  // A word in capitals is an abbreviation or a setting, and stays as it is.
  const start = first === first.toUpperCase() ? first : first.toLowerCase();
  return `${name} is not set (${[start, ...rest].join(' ')}).`;
}

function missingForS3(name: SettingName): string {
  return `${name} is not set. Storage in S3 needs ${ofS3.join(', ')}.`;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
