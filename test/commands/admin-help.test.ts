// Help must not load what only a running command needs. So the packages that it loads are counted.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const main = resolve(__dirname, '../../dist/src/main.js');

/** Runs main.js with these words, and returns its exit code, its output and the loaded packages. */
async function loadedBy(...words: readonly string[]) {
  const program = `
    const main = ${JSON.stringify(main)};
    process.argv = [process.argv[0], main, ...${JSON.stringify(words)}];
    process.on('exit', () => {
      const paths = Object.keys(require.cache).map((path) => path.split('/node_modules/')[1]);
      const names = paths.filter(Boolean).map((path) => path.match(/^(@[^/]+\\/)?[^/]+/)[0]);
      process.stderr.write('\\n' + JSON.stringify([...new Set(names)].sort()));
    });
    require(main);`;
  // An invalid setting shows that the settings are not read.
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'invalid' };
  const done = promisify(execFile)(process.execPath, ['--eval', program], { env });
  const {
    code = 0,
    stdout,
    stderr,
  } = (await done.catch((error) => error)) as {
    code?: number;
    stdout: string;
    stderr: string;
  };
  const lines = stderr.split('\n');
  return { code, stdout, packages: JSON.parse(lines.at(-1) ?? '') as string[], stderr };
}

test.each([
  [['help'], 0, 'accounts create'],
  [['help', 'keys'], 0, 'keys revoke'],
  [['accounts', 'terms', '--help'], 0, '--running-max'],
  [['acounts', 'list'], 2, ''],
])(
  '`admin` with %j reads no settings and loads no client, parser or logger',
  async (words, code, text) => {
    const said = await loadedBy('admin', ...words);
    expect(said.code).toBe(code);
    expect(said.stdout).toContain(text);
    expect(said.packages).toEqual(['aws4fetch']);
  },
);

test('a command of `admin` reads the settings', async () => {
  const { code, stderr } = await loadedBy('admin', 'accounts', 'list');
  expect([code, stderr]).toEqual([2, expect.stringContaining('LOG_LEVEL')]);
});
