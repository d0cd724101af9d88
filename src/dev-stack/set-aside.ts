// Moves the data of earlier starts to a dated folder beside the data folder. That folder is a data
// folder too: the version that made it can go on with it. Nothing is deleted.

import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../commands/command';

/** The caller holds the lock of the data folder. The files of the lock stay. */
export async function setAside(dataDir: string, say: (line: string) => void): Promise<void> {
  const all = await readdir(dataDir);
  const names = all.filter((name) => !name.startsWith('stack.lock'));
  if (names.length === 0) return say(`${dataDir} has no data to set aside.`);
  const aside = `${dataDir}-${new Date().toISOString().replaceAll(/[:.]/g, '')}`;
  try {
    await mkdir(aside, { mode: 0o755 });
    for (const name of names) await rename(join(dataDir, name), join(aside, name));
  } catch (error) {
    throw new CommandError(
      `The data of ${dataDir} cannot be moved to ${aside} (${(error as Error).message}): move them ` +
        'yourself, or set DATA_DIR to another folder.',
      1,
      { cause: error },
    );
  }
  say(`The earlier data are in ${aside}.`);
}
