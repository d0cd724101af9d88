// Tests deploy/compose/restore.sh with a replacement for `docker`: it reads everything before it changes
// anything, drops nothing, stops at the first fault, and opens no service without an account.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeDocker, type Rule } from './fake-docker';

const list: Rule = {
  when: 'pg_restore --list',
  says: '9; 0 TABLE DATA public schema_migrations video',
};
const audit: Rule = { when: 'admin audit', says: 'The books agree: 3 accounts, 9 movements.' };

let docker: ReturnType<typeof fakeDocker>;
beforeEach(() => {
  docker = fakeDocker([list, audit]);
  writeFileSync(join(docker.folder, 'a.dump'), 'dump');
});
afterEach(() => docker.remove());

/** The calls in few words; the time in names is replaced. */
const short = (calls: readonly string[]) =>
  calls
    .filter((call) => !call.includes('pg_terminate_backend'))
    .map((call) =>
      call
        .replace(/^docker compose /, '')
        .replace('exec -T postgres ', '')
        .replace('psql -U video -d postgres -v ON_ERROR_STOP=1 -qAtc ', '')
        .replaceAll(/\d{8}t\d{6}/g, 'STAMP'),
    );

const reading = [
  'up -d --no-recreate --wait postgres',
  'pg_restore --list',
  'pg_restore --file=/dev/null',
];
const stopping = '--profile next stop api api-2 worker worker-next backup temporal';
const renaming = ['video', 'temporal', 'temporal_visibility'].map(
  (name) => `alter database "${name}" rename to "${name}_before_STAMP"`,
);
const filling = [
  'createdb -U video -O video_owner video',
  'createdb -U video -O temporal temporal',
  'createdb -U video -O temporal temporal_visibility',
  'psql -U video -d video -v ON_ERROR_STOP=1 -q',
  'pg_restore -U video -d video --exit-on-error --no-owner --role=video_owner',
  'vacuumdb -U video -d video --analyze-only -q',
];
const ending = [
  'run --rm -T migrate',
  'run --rm -T admin reconcile lost --pending',
  'run --rm -T admin audit',
];
const all = [...reading, stopping, ...renaming, ...filling, ...ending, 'up -d'];

test('a restore reads the dump, sets the databases aside, fills new ones, audits, and then starts', () => {
  const { status, calls, stdout } = docker.run('restore.sh', ['a.dump']);
  expect({ status, calls: short(calls) }).toEqual({ status: 0, calls: all });
  expect(stdout).toContain('3 accounts');
  expect(calls.join()).not.toMatch(/drop/);
});

test.each<[string, string, readonly Rule[]]>([
  ['a misspelt dump', 'b.dump', []],
  ['a file that is no dump', 'a.dump', [{ when: '--list', code: 1 }]],
  [
    'a dump of another database',
    'a.dump',
    [{ when: '--list', says: '9; 0 TABLE DATA public mine me' }],
  ],
  ['a damaged dump', 'a.dump', [{ when: '--file=/dev/null', code: 1 }]],
])('%s is refused before anything is changed', (_, file, rules) => {
  const { status, calls, stderr } = docker.run('restore.sh', [file], rules);
  expect(status).toBe(1);
  expect(reading.slice(0, calls.length)).toEqual(short(calls));
  expect(stderr).toMatch(/^The restore stopped: .*\.\nNothing was changed\.\n$/);
});

test('files that cannot be read are refused before anything is changed', () => {
  const { status, calls, stderr } = docker.run('restore.sh', ['a.dump', 'none.tar']);
  expect({ status, calls: short(calls) }).toEqual({ status: 1, calls: reading });
  expect(stderr).toContain('Nothing was changed.');
});

test('the stored files are unpacked before the service starts', () => {
  execFileSync('tar', ['-cf', 'files.tar', 'ops'], { cwd: docker.folder });
  const { calls } = docker.run('restore.sh', ['a.dump', 'files.tar']);
  const unpack = 'run --rm -T --no-deps --entrypoint=tar admin -C /data -x';
  expect(short(calls)).toEqual(all.toSpliced(all.indexOf('run --rm -T migrate'), 0, unpack));
});

test.each([...renaming.slice(1), ...filling, ...ending].map((call) => [call]))(
  'if `%s` fails, the restore stops and says how to go back',
  (failing) => {
    const [when = ''] = failing.replace('_before_STAMP"', '_before_').split('admin migrate');
    const { status, calls, stderr } = docker.run(
      'restore.sh',
      ['a.dump'],
      [{ when: when.replace(/^createdb/, 'postgres createdb'), code: 1 }],
    );
    expect({ status, calls: short(calls) }).toEqual({
      status: 1,
      calls: all.slice(0, all.indexOf(failing) + 1),
    });
    expect(stderr).toMatch(/restore\.sh --back \d{8}t\d{6} && docker compose up -d\n$/);
  },
);

test('a dump without an account opens no service', () => {
  const none = { when: 'admin audit', says: 'The books agree: 0 accounts, 0 movements.' };
  const { status, calls, stderr } = docker.run('restore.sh', ['a.dump'], [none]);
  expect({ status, calls: short(calls) }).toEqual({ status: 1, calls: all.slice(0, -1) });
  expect(stderr).toContain('the dump has no account');
});

test('the way back gives every database its name again, and keeps the restored ones', () => {
  const found = { when: "from pg_database where datname = '", says: '1' };
  const { status, calls } = docker.run('restore.sh', ['--back', '20260131t000000'], [found]);
  expect(status).toBe(0);
  const renamed = (name: string) => [
    `alter database "${name}" rename to "${name}_after_STAMP"`,
    `alter database "${name}_before_STAMP" rename to "${name}"`,
  ];
  expect(short(calls).filter((call) => !call.startsWith('select'))).toEqual([
    stopping,
    ...['temporal_visibility', 'temporal', 'video'].flatMap(renamed),
  ]);
});

test('the way back of a restore that never was changes nothing', () => {
  const { status, calls, stderr } = docker.run('restore.sh', ['--back', '20260131t000000']);
  expect({ status, made: calls.length }).toEqual({ status: 1, made: 1 });
  expect(stderr).toContain(
    'there is no database video_before_20260131t000000.\nNothing was changed.',
  );
});
