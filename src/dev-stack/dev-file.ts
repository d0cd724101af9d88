// dev.json has the addresses and keys of a running `npm start`, for other programs. The file exists
// while everything is ready. It contains keys, so only its owner can read it.

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
   * The address for the owner of the database. The processes connect as a role with few privileges.
   */
  readonly databaseUrl: string;
  readonly studioUrl: string | null;
  readonly studioApiKey: string;
  readonly docsUrl: string;
  readonly playgroundUrl: string;
  readonly metricsUrls: { readonly api: string; readonly worker: string };
  /** The process ids. `stack` is the process that started the others. */
  readonly pids: Readonly<Record<string, number>>;
  /**
   * The settings that the stack gave to its processes. With them one more process can be started.
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
 * Writes the file again when a process was restarted. After `remove` the file is not created again.
 */
export function keepDevFile(dataDir: string, contents: () => DevFile) {
  let last = Promise.resolve();
  let removed = false;
  return {
    renew(): Promise<void> {
      last = last.then(() => (removed ? undefined : writeDevFile(dataDir, contents())));
      return last;
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

/**
 * Adds the settings of the `npm start` that runs on the same DATA_DIR to the environment. `asOwner`
 * is for admin commands, which use the database as its owner.
 */
export async function withDevStack(
  environment: Environment,
  asOwner: boolean,
): Promise<Environment> {
  const file = await readDevFile(environment.DATA_DIR || '.data');
  if (!file) return environment;
  // If another database is given, the stack's secrets and addresses do not belong to it.
  const { DATABASE_URL: database } = environment;
  const known = [file.environment.DATABASE_URL, file.databaseUrl];
  if (database && !known.includes(database)) return environment;
  const owner = asOwner ? { DATABASE_URL: file.databaseUrl } : {};
  const given = Object.entries(environment).filter(([, value]) => value !== '');
  return { ...file.environment, ...owner, ...Object.fromEntries(given) };
}
