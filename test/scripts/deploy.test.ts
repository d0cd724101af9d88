// Tests deploy/compose/deploy.sh with a replacement for `docker`: the order of its steps, and that it stops
// at the first fault.

import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeDocker, type Rule } from './fake-docker';

const running: Rule = { when: 'ps -q worker', says: 'aaa' };
const after: Rule = { when: 'ps -aq worker', says: 'aaa bbb' };
const up = 'docker compose up -d --no-deps';
const steps = [
  'docker image inspect video-generation-service:b2',
  'docker compose run --rm -T --no-deps migrate',
  'docker compose ps -q worker',
  `${up} --no-recreate --wait --scale worker=2 worker`,
  `${up} --wait worker`,
  `${up} --wait api-2`,
  `${up} --wait api`,
  'docker compose --profile console ps -q console',
];
const of = (tag: string) => steps.map((step) => `TAG=${tag} ${step}`);

let docker: ReturnType<typeof fakeDocker>;
const envFile = () => join(docker.folder, '.env');
const env = () => readFileSync(envFile(), 'utf8');
beforeEach(() => {
  docker = fakeDocker([running, after]);
  writeFileSync(envFile(), 'A=1\nTAG=a0\nTAG=a1\n', { mode: 0o600 });
});
afterEach(() => docker.remove());

test('a deploy migrates, tries one worker, and replaces the workers and then one API after the other', () => {
  const { status, calls, stdout } = docker.run('deploy.sh', ['b2']);
  expect({ status, calls }).toEqual({ status: 0, calls: of('b2') });
  expect(env()).toBe('A=1\nPREVIOUS_TAG=a1\nTAG=b2\n');
  expect(stdout).toContain('To go back, run: sh deploy/compose/deploy.sh --back a1');
  expect(statSync(envFile()).mode & 0o777).toBe(0o600);
});

test('on the way back the APIs are replaced before the workers, and so they are after a deploy that stopped', () => {
  writeFileSync(envFile(), 'TAG=b2\n');
  const inOrder = [
    ...steps.slice(0, 2),
    ...steps.slice(5, 7),
    ...steps.slice(2, 5),
    ...steps.slice(7),
  ];
  const back = inOrder.map((step) => `TAG=a1 ${step.replace(':b2', ':a1')}`);
  const { status, calls, stdout } = docker.run('deploy.sh', ['--back', 'a1']);
  expect({ status, calls }).toEqual({ status: 0, calls: back });
  expect(env()).toBe('PREVIOUS_TAG=b2\nTAG=a1\n');
  expect(stdout).not.toContain('To go back');
  const again = docker.run('deploy.sh', ['--back', 'a1'], [{ when: '--scale', code: 1 }]);
  expect(again).toMatchObject({ status: 1, calls: expect.arrayContaining(back.slice(0, 6)) });
  expect(again.stderr).toContain('run the same command again');
  expect(docker.run('deploy.sh', ['--back'])).toMatchObject({ status: 2, calls: [] });
});

test('an image that is not on this machine is pulled from where the images are published', () => {
  const absent = { when: 'image inspect', code: 1 };
  expect(docker.run('deploy.sh', ['1.2.3'], [absent]).calls).toHaveLength(1);
  writeFileSync(envFile(), 'TAG=1.2.2\nIMAGE_PREFIX=example.com/video/\n');
  const image = 'example.com/video/video-generation-service:1.2.3';
  const { status, calls } = docker.run('deploy.sh', ['1.2.3'], [absent]);
  expect([status, ...calls.slice(0, 3)]).toEqual([
    0,
    `TAG=1.2.3 docker image inspect ${image}`,
    `TAG=1.2.3 docker pull ${image}`,
    'TAG=1.2.3 docker compose run --rm -T --no-deps migrate',
  ]);
  const failed = docker.run('deploy.sh', ['1.2.3'], [absent, { when: 'docker pull', code: 1 }]);
  expect(failed).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Nothing was changed'),
  });
});

test('a deploy replaces a console that runs, and keeps the old tag if the console does not start', () => {
  const runs = { when: 'ps -q console', says: 'ccc' };
  const replaced = 'TAG=b2 docker compose --profile console up -d --no-deps --wait console';
  const failed = docker.run('deploy.sh', ['b2'], [runs, { when: '--wait console', code: 1 }]);
  expect(failed).toMatchObject({ status: 1, calls: [...of('b2'), replaced] });
  expect(failed.stderr).toContain('To go back, run: sh deploy/compose/deploy.sh --back a1');
  expect(env()).toBe('A=1\nTAG=a0\nTAG=a1\n');
  const { status, calls } = docker.run('deploy.sh', ['b2'], [runs]);
  expect({ status, calls }).toEqual({ status: 0, calls: [...of('b2'), replaced] });
});

test.each([
  ['without the image', 'image inspect', 1, 'Nothing was changed'],
  ['at a migration that fails', 'run --rm -T --no-deps migrate', 2, 'run as before.'],
  [
    'at the other workers',
    `${up} --wait worker`,
    5,
    'To go back, run: sh deploy/compose/deploy.sh --back a1',
  ],
  ['at the first API', '--wait api-2', 6, 'api serves as before'],
  [
    'at the second API',
    `${up} --wait api`,
    7,
    'To go back, run: sh deploy/compose/deploy.sh --back a1',
  ],
])('a deploy stops %s, says so, and leaves .env as it is', (_, when, done, sentence) => {
  // The call of the second API is the end of that of the first.
  const first = { when: '--wait api-2' };
  const others = when.endsWith('--wait api') ? [first, { when, code: 1 }] : [{ when, code: 1 }];
  const { status, calls, stderr } = docker.run('deploy.sh', ['b2'], others);
  expect({ status, calls }).toEqual({ status: 1, calls: of('b2').slice(0, done) });
  expect(stderr).toContain(sentence);
  expect(env()).toBe('A=1\nTAG=a0\nTAG=a1\n');
});

test('an additional worker that is not healthy is removed, and no other process is touched', () => {
  const { status, calls, stderr } = docker.run('deploy.sh', ['b2'], [{ when: '--scale', code: 1 }]);
  expect(status).toBe(1);
  expect(calls.slice(0, 4)).toEqual(of('b2').slice(0, 4));
  expect(calls.slice(4)).toEqual([
    'TAG=b2 docker compose ps -aq worker',
    'TAG=b2 docker logs --tail 20 bbb',
    'TAG=b2 docker rm -f bbb',
  ]);
  expect(stderr).toContain('All other processes run as before, on a1');
});

test('a change of settings keeps the image, and a fault says that .env must go back', () => {
  const { status, calls } = docker.run('deploy.sh', ['--settings']);
  const wanted = of('a1').map((step) => step.replace(':b2', ':a1'));
  expect({ status, calls }).toEqual({ status: 0, calls: wanted });
  expect(env()).toBe('A=1\nTAG=a0\nTAG=a1\n');
  const { stderr } = docker.run('deploy.sh', ['--settings'], [{ when: '--wait api-2', code: 1 }]);
  expect(stderr).toContain('put the previous values into .env');
});

test('without a tag, the image of this folder is built with its commit', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: docker.folder,
      encoding: 'utf8',
    }).trim();
  expect(docker.run('deploy.sh', [])).toMatchObject({ status: 1, calls: [] });
  git('init', '-q');
  git('add', 'ops', 'deploy');
  git('commit', '-qm', 'one');
  const commit = git('rev-parse', 'HEAD');
  const tag = git('describe', '--always');
  const { status, calls } = docker.run('deploy.sh', []);
  expect(status).toBe(0);
  expect(calls[0]).toBe(`TAG=${tag} docker compose build migrate`);
  expect(env()).toBe(`A=1\nPREVIOUS_TAG=a1\nTAG=${tag}\nCOMMIT=${commit}\n`);
  const failed = docker.run('deploy.sh', [], [{ when: 'build migrate', code: 1 }]);
  expect(failed).toMatchObject({ status: 1, calls: [calls[0]] });
  expect(failed.stderr).toContain('Nothing was changed');
  writeFileSync(join(docker.folder, 'ops/backup.sh'), '');
  expect(docker.run('deploy.sh', []).calls[0]).toBe(
    `TAG=${tag}-dirty docker compose build migrate`,
  );
});

test('with worker versions, another image is left to the workers of the next build', () => {
  writeFileSync(envFile(), 'TAG=a1\nWORKER_BUILD_ID=a1\n');
  const { status, calls, stderr } = docker.run('deploy.sh', ['b2']);
  expect({ status, calls }).toEqual({ status: 1, calls: [] });
  expect(stderr).toContain('worker-next');
  expect(docker.run('deploy.sh', ['--settings']).status).toBe(0);
});
