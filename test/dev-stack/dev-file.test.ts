// Tests commands beside a running `npm start`. The settings of the stack complete the environment,
// unless the environment names another database.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DevFile, keepDevFile, readDevFile, withDevStack } from '../../src/dev-stack/dev-file';
import { aDataDir, type DataDir } from '../support/processes';

let data: DataDir;
beforeEach(async () => {
  data = await aDataDir();
});
afterEach(() => data.remove());

const owner = 'postgres://owner@stack/video';
const ofWorker = 'postgres://worker@stack/video';
const settings = { DATABASE_URL: 'postgres://stack/video', STUDIO_API_KEY: 'of the stack' };

const writeText = (text: string) => writeFile(join(data.path, 'dev.json'), text);
const write = (stack: number) =>
  writeText(
    JSON.stringify({
      ...{ pids: { stack }, databaseUrl: owner, workerDatabaseUrl: ofWorker },
      environment: settings,
    }),
  );

test('a command takes unset and empty settings from the running development stack', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path, LOG_LEVEL: 'warn', STUDIO_API_KEY: '' };
  expect(await withDevStack(given, 'api')).toEqual({
    ...settings,
    DATA_DIR: data.path,
    LOG_LEVEL: 'warn',
  });
});

test('a command keeps the settings from its environment while a development stack runs', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path, STUDIO_API_KEY: 'mine' };
  expect(await withDevStack(given, 'api')).toMatchObject({ STUDIO_API_KEY: 'mine' });
});

test('admin commands connect to the database of the development stack as the owner of the tables', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path };
  expect(await withDevStack(given, 'admin')).toMatchObject({ DATABASE_URL: owner });
  const named = { ...given, DATABASE_URL: owner };
  expect(await withDevStack(named, 'api')).toMatchObject({ ...settings, DATABASE_URL: owner });
});

test('another worker connects to the database of the development stack as the role of workers', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path };
  expect(await withDevStack(given, 'worker')).toMatchObject({ DATABASE_URL: ofWorker });
});

test('a command with another `DATABASE_URL` takes no setting and no secret from the development stack', async () => {
  await write(process.pid);
  const given = { DATA_DIR: data.path, DATABASE_URL: 'postgres://production/video' };
  expect(await withDevStack(given, 'api')).toEqual(given);
});

test.each([
  ['of a stack that is dead', () => write(999_999_999)],
  ['that is half written', () => writeText('{"pids":')],
  ['that is empty', () => writeText('')],
  ['without settings', () => writeText(`{"pids":{"stack":${process.pid}}}`)],
  ['with empty settings', () => writeText(`{"pids":{"stack":${process.pid}},"environment":{}}`)],
  ['that is not there', async () => undefined],
])('a file `dev.json` %s is ignored', async (_what, prepare) => {
  await prepare();
  const given = { DATA_DIR: data.path };
  expect(await readDevFile(data.path)).toBeNull();
  expect(await withDevStack(given, 'api')).toEqual(given);
});

test('a file that could not be written once is written later, and can be removed', async () => {
  const folder = join(data.path, 'later');
  const file = keepDevFile(folder, () => ({ databaseUrl: owner }) as DevFile);
  await expect(file.renew()).rejects.toThrow('ENOENT');
  await mkdir(folder);
  await file.renew();
  expect(await readFile(join(folder, 'dev.json'), 'utf8')).toContain(owner);
  await file.remove();
  await expect(readFile(join(folder, 'dev.json'))).rejects.toThrow('ENOENT');
});
