// The only place that reads settings from an environment. All faults are reported together, each
// with its name, what was given and what is wanted; what is read is handed down in pieces: below
// `commands` nobody sees the whole.

import type { z } from 'zod';
import { table } from './setting-table';

type Table = z.infer<typeof table>;
type SettingName = keyof Table;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;

/** The settings by their names in code: DATABASE_POOL_MAX is `databasePoolMax`. */
type Settings = { readonly [N in SettingName as CamelCase<N>]: Table[N] };

export interface Config extends Settings {
  /**
   * The environment as it is, for what files of ours name by themselves: a catalogue's addresses
   * and keys.
   */
  readonly environment: Environment;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a process cannot do without; for everything else there is a default or it is optional. */
const required = {
  api: ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'API_KEY_PEPPER'],
  worker: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  studio: ['STUDIO_API_KEY'],
  admin: [],
  migrate: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  dev: [],
} as const satisfies Record<string, readonly SettingName[]>;

export type ProcessName = keyof typeof required;

/** A config of which some settings are known to be set. */
type ConfigWith<N extends SettingName> = Config & {
  readonly [K in N as CamelCase<K>]: NonNullable<Table[K]>;
};
export type ConfigOf<P extends ProcessName> = ConfigWith<(typeof required)[P][number]>;

/** The sentences, one per fault, are all a person needs to mend the environment. */
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
  const given = Object.fromEntries(
    // An empty value is an absent one: that is what compose files and shells make of an unset
    // variable.
    Object.entries(environment).filter(
      ([name, value]) => Object.hasOwn(table.shape, name) && value !== '',
    ),
  );
  const checked = table.safeParse(given);
  const faults = checked.success
    ? []
    : checked.error.issues.map(({ path, message }) => faultOf(String(path[0]), message, given));
  for (const name of required[process]) {
    if (given[name] === undefined) faults.push(`${name} is not set. ${sentenceOf(name)}`);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  const values = Object.entries(checked.data ?? {}).map(([name, value]) => [
    camelCase(name),
    value,
  ]);
  return Object.freeze({
    ...Object.fromEntries(values),
    environment: Object.freeze({ ...environment }),
  }) as ConfigOf<P>;
}

/** Throws unless these are set too; for commands whose needs depend on what they were asked. */
export function demand<N extends SettingName>(config: Config, names: readonly N[]): ConfigWith<N> {
  const missing = names.filter((name) => {
    return (config as unknown as Record<string, unknown>)[camelCase(name)] === null;
  });
  if (missing.length > 0) {
    throw new ConfigError(missing.map((name) => `${name} is not set. ${sentenceOf(name)}`));
  }
  return config as ConfigWith<N>;
}

export interface SettingRow {
  readonly name: SettingName;
  readonly otherwise: string;
  readonly sentence: string;
  readonly secret: boolean;
}

/** The table for readers; docs/settings.md carries it, and a test compares the two. */
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
  const hidden = settingRows().some((row) => row.name === name && row.secret);
  return `${name} is ${hidden ? 'set to something else' : JSON.stringify(given[name])}; wanted: ${wanted}.`;
}

function sentenceOf(name: SettingName): string {
  return `It is: ${table.shape[name].description ?? ''}`;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
