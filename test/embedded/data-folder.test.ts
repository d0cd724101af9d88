// Tests where the data of PostgreSQL are if the start runs as root, under a folder that only root may
// enter. Without root these cases do not exist.

import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder } from '../../src/embedded/postgres-files';

const owner = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'video-data-'));
  await mkdir(join(parent, 'a'));
});
afterEach(() => rm(parent, { recursive: true }));

const wanted = (name: string) => join(parent, name, 'postgres');

/** The folder, and a file that owns it in `name`. Removes what the folder leaves behind. */
async function elsewhere(name = 'a'): Promise<string> {
  const folder = await dataFolder(wanted(name), owner);
  left.add(folder);
  return folder;
}
const left = new Set<string>();
afterAll(async () => {
  for (const folder of left) await rm(`${folder}.owner`, { force: true });
});

asRoot('the data are elsewhere, and stay there if the folder can be entered later', async () => {
  const folder = await elsewhere();
  expect(folder.startsWith(parent)).toBe(false);
  await chmod(parent, 0o755);
  expect(await elsewhere()).toBe(folder);
});

asRoot('a copied folder does not share the data of the first', async () => {
  await elsewhere();
  await cp(join(parent, 'a'), join(parent, 'b'), { recursive: true });
  await expect(elsewhere('b')).rejects.toThrow(/belongs to .*\/a, of which this folder is a copy/);
});

asRoot('a moved folder keeps its data', async () => {
  const folder = await elsewhere();
  await rename(join(parent, 'a'), join(parent, 'b'));
  expect(await elsewhere('b')).toBe(folder);
  expect((await readFile(`${folder}.owner`, 'utf8')).trim()).toBe(`${wanted('b')}.elsewhere`);
});

asRoot('a moved folder keeps its data, also after new data began in its place', async () => {
  const folder = await elsewhere();
  await rename(join(parent, 'a'), join(parent, 'b'));
  await mkdir(join(parent, 'a'));
  expect(await elsewhere()).not.toBe(folder);
  expect(await elsewhere('b')).toBe(folder);
});

asRoot('data that the server may no longer reach are not replaced by empty data', async () => {
  await chmod(parent, 0o755);
  await mkdir(await dataFolder(wanted('a'), owner));
  await chmod(parent, 0o700);
  await expect(dataFolder(wanted('a'), owner)).rejects.toThrow(/may not enter all parents.*chmod/);
  expect(existsSync(`${wanted('a')}.elsewhere`)).toBe(false);
});

test('without another user for the server, the data are where they were wanted', async () => {
  expect(await dataFolder(wanted('a'), {})).toBe(wanted('a'));
  expect(() => readFileSync(`${wanted('a')}.elsewhere`)).toThrow();
});
