// Generates the secrets, the demo account and the first operator of a development stack, and keeps
// them in three files. The demo account has a credit of 10,000, and its stated lengths are trusted. If the database does not contain the account of the
// file, a new demo account is created.

import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { showAccount } from '../accounts/accounts.rows';
import { setTerms } from '../accounts/terms.rows';
import type { Config } from '../config/config';
import { createAccount } from '../money/new-account.rows';
import { addOperator, findByKey } from '../operators/operators.rows';

export interface Secrets {
  readonly studioApiKey: string;
}

export interface Demo {
  readonly accountId: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
}

const demoCreditMicros = 10_000_000_000;

export async function secretsOf(dataDir: string): Promise<Secrets> {
  return kept(dataDir, 'secrets.json', async () => ({
    studioApiKey: `studio_${randomBytes(18).toString('base64url')}`,
  }));
}

export async function demoOf(dataDir: string, db: Knex, config: Config): Promise<Demo> {
  const make = async () => {
    const { accountId, apiKey, webhookSecret } = await createAccount(db, {
      name: 'demo',
      currency: config.currency,
      creditMicros: demoCreditMicros,
    });
    // So the estimate of the demo follows `input_video_duration`.
    await setTerms(db, accountId, { trustsLengths: true });
    return { accountId, apiKey, webhookSecret };
  };
  const isKnown = async ({ accountId }: Demo) => (await showAccount(db, accountId)) !== null;
  return kept(dataDir, 'demo.json', make, isKnown);
}

/** The first owner of the console. */
export interface Owner {
  readonly operatorId: string;
  readonly name: string;
  readonly key: string;
}

/** Makes another operator if the key of the file does not work any more. */
export async function ownerOf(dataDir: string, db: Knex): Promise<Owner> {
  const make = async () => {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? 'dev' : `dev ${number}`;
      const added = await addOperator(db, { name, role: 'owner' });
      if (added) return { ...added, name };
    }
  };
  const works = async ({ key }: Owner) => (await findByKey(db, key)) !== null;
  return kept(dataDir, 'console.json', make, works);
}

/**
 * Reads the file, or creates it if it is absent or no longer valid. The file is written atomically,
 * and only its owner can read it.
 */
async function kept<T>(
  dataDir: string,
  name: string,
  make: () => Promise<T>,
  isTrue: (found: T) => Promise<boolean> = async () => true,
): Promise<T> {
  const file = join(dataDir, name);
  const found = await readFile(file, 'utf8')
    .then((text) => JSON.parse(text) as T)
    .catch(() => null);
  if (found && (await isTrue(found))) return found;
  const made = await make();
  await writeFile(`${file}.draft`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.draft`, file);
  return made;
}
