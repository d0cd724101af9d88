// Creates the folder of stored files when the first process starts. If the database has files, a
// folder without them is not created: it is probably the mount point of a volume. There, a
// worker would take bytes that it does not find for deleted, and new files would lie below the
// mount.

import { join, resolve } from 'node:path';
import type { Knex } from 'knex';
import { isDirectoryThere, openDirectory } from '../files/storage/directory';
import type { StorageSettings } from '../files/storage/open-storage';
import { hasFiles } from '../files/usage.rows';
import { CommandError } from './command';

export async function prepareStorage(
  { s3Bucket, storageDir }: StorageSettings,
  db: Knex,
): Promise<void> {
  if (s3Bucket !== null || (await isDirectoryThere(storageDir))) return;
  if (await hasFiles(db)) throw new CommandError(noFiles(resolve(storageDir)));
  await openDirectory(storageDir);
}

const noFiles = (folder: string) =>
  `The database has stored files, but ${folder} (STORAGE_DIR) is not a folder of stored files. Mount its ` +
  'volume or correct the settings of the storage, and start again. If it is the right folder and ' +
  `its files are lost, first create ${join(folder, '.unfinished')}.`;
