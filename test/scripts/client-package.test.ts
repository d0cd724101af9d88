// Builds the TypeScript package and checks what a user installs: its size, its needs and its types.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../..');
const tsc = join(root, 'node_modules/.bin/tsc');
const packageFolder = join(root, 'clients/typescript');

let folder: string;
let installed: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-client-'));
  installed = join(folder, 'node_modules/video-generation-client');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), readFileSync(join(packageFolder, 'package.json')));
  run(tsc, ['-p', packageFolder, '--outDir', join(installed, 'dist')]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  return stdout;
}

/** The built files that an import of the package loads. */
function loadedBy(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, next = ''] of built(file).matchAll(/from '\.\/([\w-]+\.js)'/g))
    loadedBy(next, found);
  return found;
}
const built = (file: string) => readFileSync(join(installed, 'dist', file), 'utf8');

test('the package has no dependency, and less than 25 kB of code', () => {
  const { dependencies } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  expect(dependencies ?? {}).toEqual({});
  const bytes = [...loadedBy('index.js')].map((file) => Buffer.byteLength(built(file)));
  expect(bytes.length).toBeGreaterThan(3);
  expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(25_000);
});

test('the package needs no module of Node, so it runs in Deno and in browsers', () => {
  // The optional read of the environment is no need.
  const code = (file: string) => built(file).replaceAll('globalThis.process?.env?.', '');
  const needing = [...loadedBy('index.js')].filter((file) =>
    /\bnode:|\bprocess\b|\bBuffer\b/.test(code(file)),
  );
  expect(needing).toEqual([]);
  const declared = readdirSync(join(installed, 'dist')).filter((file) => file.endsWith('.d.ts'));
  expect(declared).toContain('index.d.ts');
});

test('a bare project with `strict` accepts the package, and finds a wrong field', () => {
  const use = (body: string) => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { VideoClient, VideoError, type Task } from 'video-generation-client';
       const client = new VideoClient({ baseUrl: 'http://localhost', apiKey: 'k' });
       export async function use(): Promise<string | undefined> {
         const task: Task = await client.createAndWait(${body});
         for await (const one of client.list({ status: 'failed' })) console.log(one.error?.code);
         if (new VideoError('', { status: 0, code: 'x' }).code) await client.cancel(task.id);
         return task.video_url;
       }`,
    );
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext'];
    return () => run(tsc, [...options, '--types', '', 'use.ts']);
  };
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  expect(use(`{ model: 'm', prompt: 'p', metadata: { seed: 1, anything: true } }`)()).toBe('');
  expect(use(`{ model: 'm', prompt: 'p', ratio: '5:4' }`)).toThrow(/TS2322/);
});

test('Node loads the package as an ES module', () => {
  const code = `import('video-generation-client').then((all) => console.log(Object.keys(all).sort().join()))`;
  expect(run(process.execPath, ['-e', code]).trim()).toBe(
    'VideoClient,VideoError,isFinal,verifyCallback',
  );
});
