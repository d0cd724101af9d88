// dev.json contains the URLs and keys of a running `npm start`, for other programs. The file is
// written when all parts are ready, and is removed when the stack stops. Only the owner can read
// the file, because it contains keys.

import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../config/secret-files';

export interface DevFile {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly accountId: string;
  readonly webhookSecret: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | null;
  /**
   * The connection URL for the role that owns the database. API and worker connect as roles with
   * few privileges; `environment` has the connection URL of the API.
   */
  readonly databaseUrl: string;
  readonly workerDatabaseUrl: string;
  readonly operatorDatabaseUrl: string;
  readonly consoleUrl: string | null;
  /** The key of an owner, with which a browser signs in to the console. */
  readonly consoleKey: string;
  readonly studioUrl: string | null;
  readonly studioApiKey: string;
  readonly docsUrl: string;
  readonly playgroundUrl: string;
  readonly metricsUrls: { readonly api: string; readonly worker: string };
  /** The process ids. `stack` is the process that started the others. */
  readonly pids: Readonly<Record<string, number>>;
  /**
   * The settings that the stack gave to its processes. Another process can be started with the same
   * settings.
   */
  readonly environment: Readonly<Record<string, string>>;
}

const fileOf = (dataDir: string) => join(dataDir, 'dev.json');

async function writeDevFile(dataDir: string, contents: DevFile): Promise<void> {
  const draft = `${fileOf(dataDir)}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, fileOf(dataDir));
}

/**
 * `renew` writes the file, also after each restart of a process. After `remove`, `renew` does not
 * create the file again.
 */
export function keepDevFile(dataDir: string, contents: () => DevFile) {
  let last = Promise.resolve();
  let removed = false;
  return {
    renew(): Promise<void> {
      const written = last.then(() => (removed ? undefined : writeDevFile(dataDir, contents())));
      last = written.catch(() => undefined);
      return written;
    },
    async remove(): Promise<void> {
      removed = true;
      await last;
      await removeDevFile(dataDir);
    },
  };
}

export async function removeDevFile(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}

/** The file of a running stack; null if no stack runs or the file is damaged. */
export async function readDevFile(dataDir: string): Promise<DevFile | null> {
  try {
    const file = JSON.parse(await readFile(fileOf(dataDir), 'utf8')) as DevFile;
    process.kill(file.pids.stack ?? Number.NaN, 0);
    return file.databaseUrl && file.environment.DATABASE_URL ? file : null;
  } catch {
    return null;
  }
}

/** The settings of a process of the stack, with the DATABASE_URL of its role. */
export function settingsFor(kind: string, file: DevFile): Readonly<Record<string, string>> {
  const { workerDatabaseUrl: worker, operatorDatabaseUrl: operator, databaseUrl: admin } = file;
  const url = { worker, console: operator, admin }[kind];
  return { ...file.environment, ...(url ? { DATABASE_URL: url } : {}) };
}

/**
 * If an `npm start` runs on the same DATA_DIR, adds the settings of that stack to the environment
 * of the process `kind`.
 */
export async function withDevStack(environment: Environment, kind: string): Promise<Environment> {
  const file = await readDevFile(environment.DATA_DIR || '.data');
  if (!file) return environment;
  // If the environment names another database, the settings of the stack do not belong to that
  // database.
  const { DATABASE_URL: database } = environment;
  const known = [
    ...[file.environment.DATABASE_URL, file.workerDatabaseUrl],
    ...[file.operatorDatabaseUrl, file.databaseUrl],
  ];
  if (database && !known.includes(database)) return environment;
  const given = Object.entries(environment).filter(([, value]) => value !== '');
  return { ...settingsFor(kind, file), ...Object.fromEntries(given) };
}
