// dev.json: what a running `npm start` tells the programs around it. It is there from the moment
// everything is ready until the stop begins, and readable by its owner only, because keys are in
// it.

import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../config';

export interface DevFile {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly accountId: string;
  readonly webhookSecret: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | null;
  readonly databaseUrl: string;
  readonly studioUrl: string | null;
  readonly studioApiKey: string;
  readonly docsUrl: string;
  readonly playgroundUrl: string;
  readonly metricsUrls: { readonly api: string; readonly worker: string };
  /** `stack` is the one that started the others. */
  readonly pids: Readonly<Record<string, number>>;
  /** What one more process needs to join: the settings the stack gave its own. */
  readonly environment: Readonly<Record<string, string>>;
}

const fileOf = (dataDir: string) => join(dataDir, 'dev.json');

async function writeDevFile(dataDir: string, contents: DevFile): Promise<void> {
  const draft = `${fileOf(dataDir)}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, fileOf(dataDir));
}

/** Keeps the file true while processes come and go; once it is removed it stays so. */
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

/** The file of a stack that runs; one that a killed stack left behind counts for nothing. */
export async function readDevFile(dataDir: string): Promise<DevFile | null> {
  try {
    const file = JSON.parse(await readFile(fileOf(dataDir), 'utf8')) as DevFile;
    process.kill(file.pids.stack ?? -1, 0);
    return file;
  } catch {
    return null;
  }
}

/**
 * The environment, with what it does not say taken from the `npm start` that runs on the same
 * DATA_DIR.
 */
export async function withDevStack(environment: Environment): Promise<Environment> {
  const file = await readDevFile(environment.DATA_DIR || '.data');
  if (!file) return environment;
  // Another database is another world: the stack's secrets and addresses have no place in it.
  const { DATABASE_URL: database } = environment;
  if (database && database !== file.environment.DATABASE_URL) return environment;
  const given = Object.entries(environment).filter(([, value]) => value !== '');
  return { ...file.environment, ...Object.fromEntries(given) };
}
