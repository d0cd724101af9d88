// Runs steps of the workflow that publishes a tag, with other tools than the true ones on the PATH. The
// index of Python packages is a true server.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

interface Workflow {
  readonly defaults: { readonly run: { readonly shell: string } };
  readonly jobs: {
    readonly publish: {
      readonly env: { readonly ABSENT: string };
      readonly steps: readonly { readonly run?: string }[];
    };
  };
}

const file = resolve(__dirname, '../../.github/workflows/release.yml');
const { defaults, jobs } = parse(readFileSync(file, 'utf8')) as Workflow;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-publish-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'files'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const tool = (name: string, script: string) =>
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

/** What gh says if there is no page of the release. */
const absent = '[ "$2" != view ] || { echo "release not found" >&2; exit 1; }';

/** Runs the step that has this text, as GitHub does. */
function runStep(part: string, env: Readonly<Record<string, string>>) {
  const script = jobs.publish.steps.find(({ run }) => run?.includes(part))?.run ?? '';
  // GitHub adds the options only if the shell is named.
  expect([defaults.run.shell, script]).toEqual(['bash', expect.stringContaining(part)]);
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  const places = { FOLDER: 'files', VERSION: '1.2.3', ABSENT: jobs.publish.env.ABSENT };
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  return new Promise<{ code: unknown; out: string }>((done) =>
    execFile('bash', args, { cwd: folder, env: { ...places, PATH, ...env } }, (error, out) =>
      done({ code: error?.code ?? 0, out }),
    ),
  );
}

describe('before anything is published, a release', () => {
  const npm = { NPM_REGISTRY: 'https://npm.example.com/', NPM_TOKEN: 'token' };
  const registry = { REGISTRY_USER: 'us', REGISTRY_PASSWORD: 'pw' };
  const owned = (owners: string) => `[ "$1" = whoami ] && echo us || printf '${owners}\\n'`;
  const failing = (why: string) => `[ "$1" != whoami ] || exec echo us; echo '${why}' >&2; exit 1`;

  test.each([
    ['needs nothing without a registry', {}, 'exit 1', ''],
    ['needs who pushes images', { IMAGES: 'example.com/video' }, '', 'REGISTRY_USER'],
    [
      'needs a password for charts',
      { CHARTS: 'oci://example.com/x', REGISTRY_USER: 'us' },
      ...(['', 'REGISTRY_USER'] as const),
    ],
    ['may push images', { IMAGES: 'example.com/video', ...registry }, '', ''],
    ['needs a token for PyPI', { PYPI_URL: 'https://example.com/legacy/' }, '', 'PYPI_TOKEN'],
    ['needs a token for npm', { NPM_REGISTRY: npm.NPM_REGISTRY }, '', 'NPM_TOKEN is missing'],
    ['is refused with a false token', npm, 'exit 1', 'NPM_TOKEN is not accepted'],
    ['may take a name that nobody has', npm, failing('npm error code E404'), ''],
    ['may use its own name', npm, owned('her <her@example.com>\\nus <us@example.com>'), ''],
    ['may use a name without owners', npm, owned('no admin found'), ''],
    [
      'is refused if the name is of others',
      npm,
      ...([owned('notus <x@example.com>'), 'us does not own'] as const),
    ],
    ['is refused if nobody knows', npm, failing('npm error code E503'), 'npm error code E503'],
  ])('%s', async (_, env, script, refused) => {
    tool('npm', script);
    const none = { IMAGES: '', CHARTS: '', PYPI_URL: '', NPM_REGISTRY: '' };
    const secrets = { REGISTRY_USER: '', REGISTRY_PASSWORD: '', NPM_TOKEN: '', PYPI_TOKEN: '' };
    const { code, out } = await runStep('whoami', { ...none, ...secrets, ...env });
    expect([code, out.replace('::error::', '').startsWith(refused)]).toEqual([
      refused ? 1 : 0,
      true,
    ]);
    if (!refused) expect(out).toBe('');
  });
});

describe('the Python package', () => {
  const name = 'video_generation_client-1.2.3.tar.gz';
  const hash = createHash('sha256').update('bytes').digest('hex');

  async function publishTo(path: string, answer: { status: number; page?: string }) {
    const asked: string[] = [];
    const index = createServer(({ url, headers }, response) => {
      asked.push(`${url} ${headers.authorization}`);
      response.writeHead(answer.status).end(answer.page);
    });
    await new Promise<void>((done) => index.listen(0, '127.0.0.1', done));
    writeFileSync(join(folder, 'files', name), 'bytes');
    tool('python3', `case "$*" in *upload*) echo "uploads \${*##*/}" ;; esac`);
    try {
      const url = `http://127.0.0.1:${(index.address() as AddressInfo).port}${path}`;
      const secrets = { TWINE_USERNAME: '__token__', TWINE_PASSWORD: 'pw' };
      return { asked, ...(await runStep('twine', { PYPI_URL: url, ...secrets })) };
    } finally {
      index.close();
    }
  }

  const other = '0'.repeat(64);
  test.each([
    ['goes to an index that has nothing', { status: 404 }, 0, `uploads ${name}`],
    [
      'goes to an index that has another version',
      { status: 200, page: `<a href="../video_generation_client-1.2.2.tar.gz#sha256=${hash}">` },
      ...([0, `uploads ${name}`] as const),
    ],
    [
      'is left alone where the index has the same bytes',
      { status: 200, page: `<a href="https://files.example.com/${name}#sha256=${hash}">` },
      ...([0, `${name} is there`] as const),
    ],
    [
      'is refused where the index has other bytes',
      { status: 200, page: `<a href="${name}#sha256=${other}">` },
      ...([1, 'has another'] as const),
    ],
    ['is not sent blindly', { status: 503 }, 1, 'answers 503'],
  ])('%s', async (_, answer, code, says) => {
    const done = await publishTo('/legacy/', answer);
    expect(done).toMatchObject({ code, out: expect.stringContaining(says) });
    expect(done.out.includes('uploads')).toBe(says.startsWith('uploads'));
  });

  test.each(['/legacy/', '/legacy', '/', ''])(
    'is looked for beside where it is uploaded: "%s"',
    async (path) => {
      const { asked } = await publishTo(path, { status: 404 });
      const who = `Basic ${Buffer.from('__token__:pw').toString('base64')}`;
      expect(asked).toEqual([`/simple/video-generation-client/ ${who}`]);
    },
  );

  test('is looked for in the index of which only the uploads have a host', async () => {
    tool('python3', '');
    tool('curl', 'for page; do :; done; echo "$page" > asked; echo 503');
    await runStep('twine', { PYPI_URL: 'https://upload.example.com/legacy/' });
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe(
      'https://example.com/simple/video-generation-client/\n',
    );
  });
});

describe.each([
  ['skopeo copy', { IMAGES: 'example.com/video' }],
  ['helm push', { CHARTS: 'oci://example.com/charts' }],
])('%s', (command, places) => {
  test.each([
    ['reading manifest 1.2.3 in example.com/x: manifest unknown', 0],
    ['name unknown: repository name not known to registry', 0],
    ['unknown: artifact video:1.2.3 not found', 0],
    ['requested access to the resource is denied', 1],
    ['received unexpected HTTP status: 503 Service Unavailable', 1],
    ['dial tcp: lookup example.com: i/o timeout', 1],
  ])('after "%s" ends with %d', async (why, code) => {
    for (const name of ['skopeo', 'helm'])
      tool(
        name,
        `case "$*" in
          inspect*oci-archive:*) echo '{}' ;;
          inspect*) echo '${why}' >&2; exit 1 ;;
          *) echo "${name} $1" ;;
        esac`,
      );
    const done = await runStep(command, { ...places, GITHUB_OUTPUT: join(folder, 'output') });
    expect([done.code, done.out.includes(command)]).toEqual([code, code === 0]);
    expect(done.out.includes(why)).toBe(code === 1);
  });
});

describe.each([
  ['', ['SHA256SUMS', 'client.tgz', 'service.oci.tar']],
  ['example.com/video', ['SHA256SUMS', 'client.tgz']],
])('with the images at "%s"', (IMAGES, shown) => {
  test(`the page of the release has the files ${shown.join()}, and their hashes`, async () => {
    for (const name of ['SHA256SUMS', 'client.tgz', 'service.oci.tar'])
      writeFileSync(join(folder, 'files', name), name === 'SHA256SUMS' ? '' : 'bytes');
    tool('gh', `[ "$2" != upload ] || { shift 4; basename -a "$@"; }\n${absent}`);
    if (IMAGES === '') await runStep('>> SHA256SUMS', {});
    const { out } = await runStep('release upload', { IMAGES, GITHUB_REF_NAME: 'v1.2.3' });
    expect(out.trim().split('\n').sort()).toEqual(shown);
    const sums = readFileSync(join(folder, 'files/SHA256SUMS'), 'utf8');
    expect(sums.includes('service.oci.tar')).toBe(shown.includes('service.oci.tar'));
  });
});

describe('the page of a release', () => {
  const publishOnto = async (there: string) => {
    writeFileSync(join(folder, 'files/SHA256SUMS'), 'ours');
    writeFileSync(join(folder, 'files/NOTES.md'), '');
    tool('gh', `${there}\n[ "$2" = view ] || echo "$2"`);
    const { code, out } = await runStep('release upload', {
      IMAGES: '',
      GITHUB_REF_NAME: 'v1.2.3',
    });
    return { code, said: out.trim().split('\n') };
  };
  const shown = (sums: string) => `case $2 in
    view) echo false ;;
    download) for file; do :; done; printf '${sums}' > "$file" ;;
  esac`;

  test.each([
    ['is made where there is none', absent, [0, 'create', 'upload', 'edit']],
    [
      'is filled again while nobody sees it',
      '[ "$2" != view ] || echo true',
      [0, 'upload', 'edit'],
    ],
    ['stays as it is once it is shown', shown('ours'), [0, 'download']],
    ['is refused if it is shown with other bytes', shown('theirs'), [1, 'download']],
    [
      'is not made anew if nobody knows',
      '[ "$2" != view ] || { echo "HTTP 503" >&2; exit 1; }',
      [1, 'HTTP 503'],
    ],
  ])('%s', async (_, there, done) => {
    const { code, said } = await publishOnto(there);
    expect([code, ...said.filter((line) => !line.includes('differ'))]).toEqual(done);
  });
});

describe('the version that people get who ask for none', () => {
  const env = () => ({ GITHUB_REF_NAME: 'v1.2.3', GITHUB_ENV: join(folder, 'env') });

  test.each([
    ['the first', '', 'LATEST=true\nNPM_TAG=latest'],
    ['newer than the others', 'v1.2.2\nnightly\nv1.1.10\n', 'LATEST=true\nNPM_TAG=latest'],
    ['published already', 'v1.2.3\nv1.2.2\n', 'LATEST=true\nNPM_TAG=latest'],
    ['older than another', 'v1.10.0\nv1.2.2\n', 'LATEST=false\nNPM_TAG=release-1.2'],
  ])(
    'is this one only if nothing newer is published: this one is %s',
    async (_, there, written) => {
      tool('gh', `echo "$*" > asked; printf '${there.replaceAll('\n', '\\n')}'`);
      expect(await runStep('newest', env())).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder, 'env'), 'utf8')).toBe(`VERSION=1.2.3\n${written}\n`);
      const asked = readFileSync(join(folder, 'asked'), 'utf8');
      expect(asked).toContain('release list --exclude-drafts --exclude-pre-releases');
    },
  );

  test.each(['exit 1', 'echo v1.2.2; exit 1'])(
    'is not guessed if the releases cannot be read: %s',
    async (script) => {
      tool('gh', script);
      expect(await runStep('newest', env())).toMatchObject({ code: 1 });
    },
  );
});
