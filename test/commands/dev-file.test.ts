// Joining a running `npm start`: its settings fill in what the environment does not say, and never
// mix with another database.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDevFile, withDevStack } from '../../src/commands/dev-file';
import { aDataDir, type DataDir } from '../support/processes';

let data: DataDir;
beforeEach(async () => {
  data = await aDataDir();
});
afterEach(() => data.remove());

const settings = { DATABASE_URL: 'postgres://stack/video', API_KEY_PEPPER: 'of the stack' };

const write = (stack: number) =>
  writeFile(
    join(data.path, 'dev.json'),
    JSON.stringify({ pids: { stack }, environment: settings }),
  );

test('what the environment does not say comes from the stack; an empty value says nothing', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path, LOG_LEVEL: 'warn', API_KEY_PEPPER: '' };
  expect(await withDevStack(given)).toEqual({
    ...settings,
    DATA_DIR: data.path,
    LOG_LEVEL: 'warn',
  });
});

test('what the environment says stands', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path, API_KEY_PEPPER: 'mine' };
  expect(await withDevStack(given)).toMatchObject({ API_KEY_PEPPER: 'mine' });
});

test("with a database of its own nothing of the stack's is taken, its secrets least of all", async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path, DATABASE_URL: 'postgres://production/video' };
  expect(await withDevStack(given)).toEqual(given);
});

test.each([
  ['of a stack that is dead', () => write(999_999_999)],
  ['that is half written', () => writeFile(join(data.path, 'dev.json'), '{"pids":')],
  ['that is not there', async () => undefined],
])('a file %s counts for nothing', async (_what, prepare) => {
  await prepare();
  const given = { DATA_DIR: data.path };
  expect(await readDevFile(data.path)).toBeNull();
  expect(await withDevStack(given)).toEqual(given);
});
