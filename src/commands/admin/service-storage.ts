// Checks that the storage of an admin command holds the files of the service. In another storage, the
// removal of a missing object counts as done: the rows would go, and nobody could find the bytes.

import { resolve } from 'node:path';
import type { Knex } from 'knex';
import type { Config } from '../../config/config';
import { openStorage } from '../../files/storage/open-storage';
import { type Storage, StorageError } from '../../files/storage/storage';
import { sampleKeys } from '../../files/usage.rows';
import { CommandError } from '../command';

/**
 * Throws if the storage cannot be used, or if it has none of a few stored files. A service without
 * files passes.
 */
export async function checkStorage(config: Config, db: Knex, accountId: string): Promise<void> {
  const storage = openStorage(config);
  const keys = await sampleKeys(db, accountId);
  try {
    // The first read also finds a missing folder and a storage that does not answer.
    if (await hasOne(storage, keys.length > 0 ? keys : ['none'])) return;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new CommandError(`${sentenceOn(error)} ${nothingChanged}`);
  }
  if (keys.length === 0) return;
  throw new CommandError(
    `${placeOf(config)} has none of the files of this service, such as ${keys[0]}. ${nothingChanged} ` +
      'If the files are really lost, run it when the service has stored a new one.',
  );
}

async function hasOne(storage: Storage, keys: readonly string[]): Promise<boolean> {
  for (const key of keys) {
    const bytes = await storage.read(key, { first: 0, last: 0 });
    bytes?.on('error', () => undefined).destroy();
    if (bytes) return true;
  }
  return false;
}

export const sentenceOn = ({ fault, message }: StorageError) =>
  `The storage cannot be used (${fault}): ${message.replace(/\.?$/, '.')}`;

function placeOf({ s3Bucket, s3Endpoint, storageDir }: Config): string {
  return s3Bucket === null
    ? `The folder ${resolve(storageDir)} (STORAGE_DIR)`
    : `The bucket ${s3Bucket} at ${s3Endpoint}`;
}

const nothingChanged =
  'Nothing was changed. Give this command the storage settings of the API and the workers ' +
  '(STORAGE_DIR, or S3_BUCKET and the other S3 settings), and run it again.';
