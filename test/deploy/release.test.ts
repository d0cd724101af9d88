// Makes a release without its tag, and uses what it built as a stranger does, outside the project.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithGo, least, project, templateOf, why } from '../support/chart';
import { hasTool, pythonPackage, succeed } from '../support/foreign';
import { runProgram } from '../support/program';
import { type Service, startService } from '../support/service';

jest.setTimeout(600_000);

const python = hasTool('python3', '-m', 'pip', '--version');
let folder: string;
let built: string;
let version: string;
let said: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-release-'));
  built = join(folder, 'built');
  ({ version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')));
  const source = 'https://example.com/owner/video';
  const args = ['scripts/release.mjs', version, '--dry-run', '--out', built, '--source', source];
  const program = runProgram(process.execPath, args, { cwd: project });
  const code = await program.code;
  said = program.out();
  if (code !== 0) throw new Error(program.err());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a dry run says what a release would do, and the hashes are those of the files', async () => {
  expect(said).toContain(`A release would tag`);
  const sums = await readFile(join(built, 'SHA256SUMS'), 'utf8');
  const listed = [...sums.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm)];
  expect(listed.map(([, , name]) => name)).toEqual(
    (await readdir(built)).filter((name) => !/SHA256SUMS|\.oci\.tar$/.test(name)).sort(),
  );
  for (const [, hash, name = ''] of listed) {
    const data = await readFile(join(built, name));
    expect([name, createHash('sha256').update(data).digest('hex')]).toEqual([name, hash]);
  }
});

const outputOf = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { encoding: 'utf8' });

test('each of the packages and the chart has the license', async () => {
  const license = await readFile(join(project, 'LICENSE'), 'utf8');
  const path = (name: string) => join(built, name);
  const stem = `video_generation_client-${version}`;
  for (const [file, name] of [
    [`video-generation-client-${version}.tgz`, 'package/LICENSE'],
    [`video-generation-service-chart-${version}.tgz`, 'video-generation-service/LICENSE'],
    [`${stem}.tar.gz`, `${stem}/LICENSE`],
  ] as const)
    expect([file, outputOf('tar', '-xzOf', path(file), name)]).toEqual([file, license]);
  const read =
    'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode(), end="")';
  const wheel = [path(`${stem}-py3-none-any.whl`), `${stem}.dist-info/LICENSE`];
  expect(outputOf('python3', '-c', read, ...wheel)).toBe(license);
});

test('the notes of the release lead to the files of its tag', async () => {
  const notes = await readFile(join(built, 'NOTES.md'), 'utf8');
  expect(notes).toContain(`](https://example.com/owner/video/blob/v${version}/docs/api.md)`);
  expect(notes.match(/\]\((?!https:)[^)]*/g)).toBeNull();
});

test('each of the packages and the chart has a bill of materials with its version', async () => {
  const bills = (await readdir(built)).filter((name) => name.endsWith('.cdx.json'));
  const named: string[] = [];
  for (const name of bills) {
    const { bomFormat, metadata } = JSON.parse(await readFile(join(built, name), 'utf8'));
    expect([bomFormat, metadata.component.version]).toEqual(['CycloneDX', version]);
    named.push(metadata.component.name);
  }
  expect(named.sort()).toEqual([
    'video-generation-client',
    'video-generation-client',
    'video-generation-service',
    'video-generation-service-chart',
  ]);
});

describe('a program that installed the package', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.close());

  async function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
    const program = runProgram(command, [...args], {
      cwd: folder,
      env: { BASE_URL: service.url, API_KEY: service.apiKey, ...env },
    });
    const code = await program.code;
    return { code, out: program.out(), err: program.err() };
  }

  test('from npm makes a video, in JavaScript and with the command line', async () => {
    const tarball = join(built, `video-generation-client-${version}.tgz`);
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await succeed('npm', [
      ...['install', '--silent', '--no-audit', '--no-fund', '--offline'],
      ...['--prefix', folder, tarball],
    ]);
    await writeFile(
      join(folder, 'make.mjs'),
      `import { VideoClient } from 'video-generation-client';
      const client = new VideoClient({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY });
      const task = await client.createAndWait({ model: 'studio-2.0', prompt: 'A paper boat' });
      let bytes = 0;
      for await (const chunk of client.download(task)) bytes += chunk.length;
      console.log(task.status, bytes > 1_000);`,
    );
    const installed = join(folder, 'node_modules/video-generation-client/package.json');
    expect(JSON.parse(await readFile(installed, 'utf8')).repository).toMatchObject({
      url: 'git+https://example.com/owner/video.git',
    });
    expect(await run(process.execPath, ['make.mjs'])).toMatchObject({
      code: 0,
      out: 'succeeded true\n',
    });
    expect(await run(join(folder, 'node_modules/.bin/videos'), ['list'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('succeeded'),
    });
  });

  (python ? test : test.skip).each([
    ['wheel', (name: string) => name.endsWith('.whl')],
    ['source distribution', (name: string) => /^video_generation_client-.*\.tar\.gz$/.test(name)],
  ])('from the Python %s makes a video', async (kind, isIt) => {
    const file = (await readdir(built)).find(isIt) ?? '';
    const target = join(folder, `python-${kind.slice(0, 5)}`);
    await succeed('python3', [
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'],
      ...['--no-index', '--no-deps', '--target', target, join(built, file)],
    ]);
    await writeFile(
      join(folder, 'make.py'),
      [
        'import os',
        'from video_generation_client import VideoClient',
        'with VideoClient(os.environ["BASE_URL"], os.environ["API_KEY"]) as client:',
        '    task = client.create_and_wait({"model": "studio-2.0", "prompt": "A paper boat"})',
        '    print(task["status"], sum(map(len, client.download(task))) > 1_000)',
      ].join('\n'),
    );
    const path = `${target}:${await pythonPackage('httpx', '0.28.1')}`;
    expect(await run('python3', ['make.py'], { PYTHONPATH: path })).toMatchObject({
      code: 0,
      out: 'succeeded True\n',
    });
  });
});

describeWithGo(`the packed chart${why}`, () => {
  test('renders the image of its version', async () => {
    const packed = join(built, `video-generation-service-chart-${version}.tgz`);
    const repository = 'image.repository=registry.example.com/video';
    expect(await templateOf(packed, ...least, '--set', repository)).toContain(
      `image: registry.example.com/video:${version}`,
    );
  });
});
