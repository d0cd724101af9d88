// Tests the database roles: the statements that each role must not run, and the privileges that a
// migration grants. Other tests show that the service works with its role, because the stack and
// the test service connect with that role.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { Client } from 'pg';
import { connect } from '../../src/database/database';
import { migrate, noRoles } from '../../src/database/migrate';
import { type Roles, UnfitRole } from '../../src/database/roles';
import { roleNames } from '../../src/embedded/postgres';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
const connections: Record<string, Knex> = {};
beforeAll(async () => {
  database = await createTestDatabase(2);
  const urls = {
    api: database.apiUrl,
    worker: database.workerUrl,
    operator: database.operatorUrl,
  };
  for (const [role, url] of Object.entries(urls)) {
    connections[role] = connect({ url, poolMax: 1, applicationName: role });
  }
});
afterAll(async () => {
  await Promise.all(Object.values(connections).map((db) => db.destroy()));
  await database.drop();
});

const as = (role: string) => connections[role] as Knex;

const forbidden = [
  'update transfers set amount = 1',
  'delete from transfers',
  'truncate transfers',
  'alter table transfers disable trigger transfers_immutable',
  'alter table transfers disable trigger all',
  'set session_replication_role = replica',
  'drop trigger transfers_immutable on transfers',
  'update operator_log set why = null',
  'delete from operator_log',
  'delete from tasks',
  'truncate operator_log',
  'drop function refuse_change() cascade',
  'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
  'alter table accounts add column mine text',
  'drop table tasks',
  'truncate tasks cascade',
  'create table mine (id text)',
  'create index mine on tasks (id)',
  'create schema mine',
  'create function mine() returns int language sql as $$ select 1 $$',
  'alter role current_user superuser',
  'create role mine',
  "insert into schema_migrations values ('mine')",
  `copy accounts to program 'cat'`,
  `copy accounts to '/tmp/mine'`,
  'select * from pg_authid',
  "select pg_read_file('postgresql.conf')",
];

describe.each(['api', 'worker', 'operator'])('the role of %s', (role) => {
  test.each(forbidden)('may not run the statement: %s', async (statement) => {
    await expect(as(role).raw(statement)).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|2BP01)$/),
      message: expect.stringMatching(/permission denied|must be owner|Only roles with/),
    });
  });
});

describe.each(['worker', 'operator'])('the role of %s', (role) => {
  test('may read and add movements of money', async () => {
    await as(role).raw('select count(*) from transfers');
    await expect(
      as(role).raw(`insert into transfers (id, account_id, seq, kind, debit, credit, amount,
                                           available_after, held_after)
                    values ('t', 'a', 1, 'none', 'x', 'y', 1, 1, 1)`),
    ).rejects.toThrow('domain movement');
  });
});

test.each([
  'update accounts set disabled_at = null',
  `insert into accounts (id, name) values ('a', 'mine')`,
  `insert into api_keys (id, account_id, digest, last_four) values ('k', 'a', 'x', 'x')`,
  'update api_keys set revoked_at = null',
  "update api_keys set digest = 'x'",
  'update webhook_secrets set expires_at = null',
  'update budgets set limit_micros = 1',
  'insert into balances (account_id) values (1)',
  'insert into webhook_secrets (account_id, secret) values (1, 1)',
  `update webhook_secrets set secret = 'mine'`,
  'delete from webhook_secrets',
  'select * from operator_log',
  'insert into operator_log (who) values (1)',
  'select * from operators',
  `insert into operators (id, name, role, digest, last_four) values ('o', 'o', 'owner', 'x', 'x')`,
  `update operators set role = 'owner'`,
  `insert into operator_sessions (digest, operator_id, key_digest) values ('x', 'o', 'x')`,
])(
  'neither the role of the API nor that of the worker may run the statement: %s',
  async (statement) => {
    for (const role of ['api', 'worker']) {
      await expect(as(role).raw(statement)).rejects.toMatchObject({ code: '42501' });
    }
  },
);

test.each([
  'select secret from webhook_secrets',
  'select secret from webhooks',
  'update webhooks set url = null',
  'update balances set available = 1',
  'update balances set held = 1',
  'update api_keys set manages_keys = true',
  'update accounts set queued_max = 1',
  'delete from refusals_days',
  `update refusals_days set account_id = 'a'`,
  `insert into alerts (id, state) values ('a', 'delivered')`,
  `insert into transfers (id) values ('t')`,
  'insert into jobs (task_id) values (1)',
  'update callbacks set url = null',
  'update loops set ran_at = now()',
])('an attacker with the role of the API may not run the statement: %s', async (statement) => {
  await expect(as('api').raw(statement)).rejects.toMatchObject({ code: '42501' });
});

test.each([
  `select make_key('k', 'k', '', '', '', null, null)`,
  `select end_key('k', 'k')`,
  'select * from api_keys',
  'select digest from api_keys',
  'insert into refusals_days (day) values (now())',
  'update api_keys set account_id = 1',
  'delete from api_keys',
  'select * from budgets',
  'insert into tasks (id) values (1)',
  'insert into accounts (id, name) values (1, 1)',
  'insert into balances (account_id) values (1)',
])('an attacker with the role of the worker may not run the statement: %s', async (statement) => {
  await expect(as('worker').raw(statement)).rejects.toMatchObject({ code: '42501' });
});

test.each([
  'select secret from webhooks',
  'select secret from webhook_secrets',
  'select digest from api_keys',
  'delete from tasks',
  'delete from accounts',
  'delete from operators',
])('the role of an operator may not run the statement: %s', async (statement) => {
  await expect(as('operator').raw(statement)).rejects.toMatchObject({ code: '42501' });
});

/** The tables on which a role has no privilege at all. */
const unused: Readonly<Record<string, readonly string[]>> = {
  [roleNames.api]: ['webhook_secrets', 'operator_log', 'operators', 'operator_sessions'],
  [roleNames.worker]: [
    ...['api_keys', 'budgets', 'task_labels'],
    ...['operator_log', 'operators', 'operator_sessions'],
  ],
  [roleNames.operator]: [],
};

describe('a migration', () => {
  const owned = () => database.db;

  test('grants every role privileges on every table that its process uses', async () => {
    const { rows } = await owned().raw(
      `select tablename from pg_tables where schemaname = 'public' order by 1`,
    );
    for (const role of Object.values(roleNames)) {
      const withheld = unused[role] ?? [];
      const granted = await owned().raw(
        `select distinct table_name from information_schema.column_privileges
          where grantee = ? and table_schema = 'public' order by 1`,
        [role],
      );
      const known = granted.rows.map((row: { table_name: string }) => row.table_name);
      expect(new Set([...known, ...withheld])).toEqual(
        new Set(rows.map((row: { tablename: string }) => row.tablename)),
      );
    }
  });

  test('grants the privileges of a worker to a newly configured role, and revokes all other privileges of that role', async () => {
    const role = `late_${Date.now()}`;
    await owned().raw('create role ??', [role]);
    try {
      const may = async (table: string, privilege: string) => {
        const answer = await owned().raw('select has_table_privilege(?, ?, ?) as may', [
          ...[role, table, privilege],
        ]);
        return answer.rows[0].may;
      };
      expect(await may('tasks', 'update')).toBe(false);
      await owned().raw('grant delete on transfers to ??', [role]);
      for (const _ of [1, 2]) await migrate(owned(), { ...noRoles, worker: role });
      expect(await may('tasks', 'update')).toBe(true);
      expect(await may('transfers', 'insert')).toBe(true);
      expect(await may('transfers', 'delete')).toBe(false);
    } finally {
      await owned().raw('drop owned by ??', [role]);
      await owned().raw('drop role ??', [role]);
    }
  });

  test.each<[string, Partial<Roles>, RegExp]>([
    ['unknown', { api: 'nobody' }, /"nobody" \(DATABASE_API_ROLE\)/],
    [
      'the owner of the tables',
      { operator: 'video' },
      /"video" \(DATABASE_OPERATOR_ROLE\) is a superuser/,
    ],
    ['the same for worker and operator', { worker: 'a', operator: 'a' }, /name the same role/],
  ])('refuses a role that is %s', async (_what, roles, sentence) => {
    const asked = migrate(owned(), { ...noRoles, ...roles });
    await expect(asked).rejects.toThrow(sentence);
    await expect(asked).rejects.toBeInstanceOf(UnfitRole);
  });

  test('refuses a role that may create tables', async () => {
    await owned().raw('grant create on schema public to public');
    const asked = migrate(owned(), roleNames);
    await expect(asked).rejects.toThrow(/"video_api" \(DATABASE_API_ROLE\) may create tables/);
    await owned().raw('revoke create on schema public from public');
  });
});

describe('ops/database-roles.sql and ops/database-rights.sql', () => {
  // The script names databases and roles, which all tests on the server share. So this test
  // replaces the names.
  const ending = `_${Date.now()}`;
  const own = (name: string) => `${name}${ending}`;
  const names =
    /\b(video_owner|video_api|video_worker|video_operator|video_backup|temporal_visibility|temporal|video)\b/g;
  const ofService = ['video_owner', 'video_api', 'video_worker', 'video_operator', 'video_backup'];
  const statementsOf = (file: string) =>
    readFileSync(join(__dirname, '../../ops', file), 'utf8')
      .replace(/^(\\|--).*$/gm, '')
      .replace(/:'(\w+)'/g, `'a password'`)
      .replace(names, own('$1'))
      .split(';')
      .filter((text) => text.trim() !== '');
  const urlOf = (role: string, name: string) => {
    const url = new URL(database.url);
    return Object.assign(url, { pathname: own(name), ...logIn(role) }).href;
  };
  const logIn = (role: string) =>
    role === '' ? {} : { username: own(role), password: 'a password' };

  async function ask(role: string, name: string, statement: string) {
    const client = new Client({ connectionString: urlOf(role, name) });
    await client.connect();
    try {
      return await client.query(statement);
    } finally {
      await client.end();
    }
  }

  beforeAll(async () => {
    await database.db.raw('create database ??', [own('video')]);
    for (const file of ['database-roles.sql', 'database-rights.sql']) {
      for (const statement of statementsOf(file)) await ask('', 'video', statement);
    }
  });
  afterAll(async () => {
    for (const name of ['video', 'temporal', 'temporal_visibility']) {
      await database.db.raw('drop database if exists ?? with (force)', [own(name)]);
    }
    for (const role of [...ofService, 'temporal']) {
      await database.db.raw('drop role if exists ??', [own(role)]);
    }
  });

  test('lets the owner migrate the schema and grant the privileges', async () => {
    const owner = connect({
      url: urlOf('video_owner', 'video'),
      poolMax: 1,
      applicationName: 'owner',
    });
    try {
      await migrate(owner, {
        api: own('video_api'),
        worker: own('video_worker'),
        operator: own('video_operator'),
      });
    } finally {
      await owner.destroy();
    }
    await ask('video_worker', 'video', 'select * from tasks');
    await expect(ask('video_worker', 'video', 'delete from transfers')).rejects.toThrow('denied');
    await expect(ask('video_worker', 'video', 'create temp table a (b int)')).rejects.toThrow(
      'permission denied to create temporary tables',
    );
  });

  // A dump locks every table and reads it, and reads the sequences.
  test('lets the role of the dumps read every table, and write none', async () => {
    const relations = `select relname, relkind from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'S')`;
    const { rows } = await ask('video_owner', 'video', relations);
    const tables = rows.filter(({ relkind }) => relkind === 'r').map(({ relname }) => relname);
    expect(tables).toEqual(expect.arrayContaining(['api_keys', 'webhook_secrets', 'transfers']));
    for (const { relname } of rows) await ask('video_backup', 'video', `table "${relname}"`);
    for (const table of tables) {
      await ask(
        'video_backup',
        'video',
        `begin; lock table "${table}" in access share mode; commit`,
      );
      await expect(ask('video_backup', 'video', `delete from "${table}"`)).rejects.toThrow(
        'denied',
      );
    }
    await expect(ask('video_backup', 'video', 'create table a (b int)')).rejects.toThrow('denied');
  });

  test('lets Temporal create its tables, which no role of the service can read', async () => {
    for (const name of ['temporal', 'temporal_visibility']) {
      await ask('temporal', name, 'create table if not exists executions (id text)');
      for (const role of ofService) {
        await expect(ask(role, name, 'select * from executions')).rejects.toThrow(
          'permission denied for database',
        );
      }
    }
    await expect(ask('temporal', 'video', 'select 1')).rejects.toThrow(
      'permission denied for database',
    );
  });

  test('give databases that were created again the same rights', async () => {
    const rights = async () => {
      const sql = `select datname, datacl::text, datdba::regrole::text as owner from pg_database where datname like ? order by 1`;
      return (await database.db.raw(sql, [`%${ending}`])).rows as object[];
    };
    const before = await rights();
    expect(before).toHaveLength(3);
    for (const [name, owner] of [
      ['video', 'video_owner'],
      ['temporal', 'temporal'],
      ['temporal_visibility', 'temporal'],
    ] as const) {
      await database.db.raw('drop database ?? with (force)', [own(name)]);
      await database.db.raw('create database ?? owner ??', [own(name), own(owner)]);
    }
    expect(await rights()).not.toEqual(before);
    for (const statement of statementsOf('database-rights.sql')) await ask('', 'video', statement);
    expect(await rights()).toEqual(before);
  });
});
