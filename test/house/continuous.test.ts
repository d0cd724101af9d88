// Checks what runs without a person: the script and the workflows of CI, and the updates of images.

import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import { filesIn, read } from './sources';

interface Workflow {
  readonly on: { readonly pull_request?: null; readonly schedule?: readonly { cron: string }[] };
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly strategy?: { readonly matrix?: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly {
    readonly run?: string;
    readonly uses?: string;
    readonly env?: Readonly<Record<string, string>>;
  }[];
}

const folder = '.github/workflows';
const workflow = (name: string) => parse(read(`${folder}/${name}`)) as Workflow;
const runsOf = ({ jobs }: Workflow) =>
  Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

test('each pull request starts the stack in containers as root, with the images of the vendors', () => {
  const check = workflow('check.yml');
  expect(check.on).toHaveProperty('pull_request');
  expect(runsOf(check)).toContain('sudo env "PATH=$PATH" "CI=$CI" npm run test:containers');
});

test('each pull request builds both images for each processor of a release', () => {
  const builds = runsOf(workflow('check.yml')).flatMap(
    (run) => run.match(/^docker build .*/gm) ?? [],
  );
  const built = builds.map((one) => [/linux\/\w+/.exec(one)?.[0], one.includes('--target studio')]);
  expect(built).toEqual([
    [undefined, false],
    [undefined, true],
    ['linux/arm64', false],
    ['linux/arm64', true],
  ]);
});

test('every other group of tests runs for each pull request or once a week', () => {
  const weekly = workflow('weekly.yml');
  expect(weekly.on.schedule).toHaveLength(1);
  const slow = weekly.jobs.slow?.strategy?.matrix?.tests ?? [];
  const named = `npm run test:$${'{{ matrix.tests }}'}`;
  expect(runsOf(weekly)).toContain(named);
  const run = [...runsOf(workflow('check.yml')), ...slow.map((name) => `npm run test:${name}`)];
  // `npm test` contains the fast tests.
  const groups = Object.keys(scripts).filter((name) => /^test:(?!fast$)/.test(name));
  expect(groups.filter((name) => !run.some((line) => line.endsWith(`npm run ${name}`)))).toEqual(
    [],
  );
});

const published = workflow('release.yml');

test('a tag is built once, after all checks and as the command of a release allows, and published from that', () => {
  const { check, build, publish } = published.jobs;
  expect(check).toEqual({ needs: 'settings', uses: './.github/workflows/check.yml' });
  expect([build, publish]).toMatchObject([{ needs: 'check' }, { needs: 'build' }]);
  expect(workflow('check.yml').on).toHaveProperty('workflow_call');
  const runs = runsOf({ ...published, jobs: { build: build! } }).join('\n');
  expect(runs).toContain(`npm run -s release -- "$${'{GITHUB_REF_NAME#v}'}" --publish`);
  expect(publish!.steps.find(({ uses }) => uses?.includes('checkout'))).toBeUndefined();
});

test('what cannot be taken back is published last, and the page is shown after all', () => {
  const acts = [
    'ask whoami',
    'docker login',
    'skopeo copy',
    'helm push',
    'twine upload',
    'npm publish',
  ];
  const runs = runsOf({ ...published, jobs: { publish: published.jobs.publish! } });
  const places = [...acts, '--draft=false'].map((act) =>
    runs.findIndex((run) => run.includes(act)),
  );
  expect(places[0]).toBe(0);
  expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
});

test('what publishes has an environment for itself, and only what calls gh has its token', () => {
  const { publish } = published.jobs;
  expect(publish).toMatchObject({ environment: 'release', concurrency: { group: 'release' } });
  expect(publish).not.toHaveProperty('env.GH_TOKEN');
  const callers = publish!.steps.filter(({ run }) => /\bgh release /.test(run ?? ''));
  expect(callers).not.toEqual([]);
  expect(publish!.steps.filter(({ env }) => env?.GH_TOKEN)).toEqual(callers);
});

test('the workflow of a release names no registry', () => {
  expect(read(`${folder}/release.yml`).replace(/^#.*/gm, '')).not.toMatch(
    /docker\.io|ghcr|npmjs|pypi\.org|github\.com|example\.com/,
  );
});

test.each([
  [{}, ''],
  [{ NPM_REGISTRY: 'https://npm.example.com/' }, ''],
  [{ NPM_REGISTRY: 'https://npm.example.com' }, 'NPM_REGISTRY'],
  [{ IMAGES: 'example.com/video', CHARTS: 'oci://example.com/charts' }, ''],
  [{ IMAGES: 'example.com/video/' }, 'IMAGES'],
  [{ CHARTS: 'example.com/charts' }, 'CHARTS'],
  [{ IMAGES: 'example.com/video', CHARTS: 'oci://example.com/video' }, 'CHARTS'],
  [{ PRIVATE: 'false' }, ''],
  [{ PRIVATE: 'true' }, 'the'],
])('before all else a release is refused if a place cannot be right: %j', (places, refused) => {
  const [script = ''] = runsOf({ ...published, jobs: { settings: published.jobs.settings! } });
  const { status, stdout } = spawnSync('bash', ['-ec', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...places },
  });
  expect([status, stdout.split(' ')[0]]).toEqual([
    refused ? 1 : 0,
    refused && `::error::${refused}`,
  ]);
});

test.each(filesIn(folder, '.yml'))('%s uses every action by its commit', (path) => {
  const uses = read(path).match(/uses: (?!\.\/).*/g) ?? [];
  expect(uses.length).toBeGreaterThan(2);
  for (const one of uses) expect(one).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test.each(['.ci/run', 'test/containers/engine/packages.sh'])(
  'in %s every apt-get waits for the lock of another one',
  (path) => {
    const calls = read(path)
      .split('\n')
      .filter((line) => /\bapt-get\b.*\b(update|install|download)\b/.test(line));
    expect(calls.length).toBeGreaterThan(1);
    const waits = read(path).includes('wait=(-o DPkg::Lock::Timeout=300)')
      ? /apt-get "\$\{wait\[@\]\}" /
      : /apt-get -o DPkg::Lock::Timeout=300 /;
    for (const call of calls) expect(call).toMatch(waits);
  },
);

test('the script of CI says at its end that no browser could be installed', () => {
  expect(read('.ci/run')).toMatch(/trap 'echo "WARNING: .* WERE SKIPPED: .*" >&2' EXIT/);
});

test('an update of the images offers no major version of PostgreSQL, and skips no minor version of Temporal', () => {
  const { packageRules } = JSON.parse(read('renovate.json')) as {
    packageRules: { matchPackageNames: string[]; allowedVersions?: string }[];
  };
  const allows = (image: string, version: string) =>
    packageRules
      .filter(({ matchPackageNames }) => matchPackageNames.includes(image))
      .flatMap(({ allowedVersions }) => allowedVersions ?? [])
      .map((pattern) => new RegExp(pattern.slice(1, -1)).test(version));
  const used = (image: string) =>
    new RegExp(`image: ${image}:(\\d+)\\.(\\d+)`).exec(read('docker-compose.yml'))!.map(Number);
  const [, major = 0, minor = 0] = used('postgres');
  expect(allows('postgres', `${major}.${minor + 1}`)).toEqual([true]);
  expect(allows('postgres', `${major + 1}.0`)).toEqual([false]);
  for (const image of ['temporalio/server', 'temporalio/admin-tools']) {
    const [, first = 0, second = 0] = used(image);
    const next = [0, 1, 2].map((step) => allows(image, `${first}.${second + step}.0`));
    expect([image, next]).toEqual([image, [[true], [true], [false]]]);
  }
});
