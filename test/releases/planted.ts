// Steps of the schema that a version must not have, each with what its older processes lose by it, and
// steps that take nothing from them, unless they lock a large table for long (CONTRIBUTING.md).

import type { Knex } from 'knex';
import type { Release } from './frozen';
import { schemaState, takenAway } from './schema-changes';

export const breaking: readonly (readonly [step: string, lost: RegExp])[] = [
  ['alter table tasks drop column trace_id', /^tasks\.trace_id is gone$/],
  ['alter table tasks rename column told_pending to told', /^tasks\.told_pending is gone$/],
  ['drop table operator_sessions', /^operator_sessions\.\w+ is gone$/],
  ['alter table accounts alter column running_max type bigint', /was integer, and is bigint$/],
  ['alter table callbacks alter column deliveries drop default', /has no default any more$/],
  [
    `update accounts set price_list = 'x'; alter table accounts alter column price_list set not null`,
    /^accounts\.price_list must not be null any more$/,
  ],
  [
    `alter table usage_state add column a int not null default 1;
     alter table usage_state alter column a drop default`,
    /^usage_state\.a is new, must be given, and has no default$/,
  ],
  ['alter table accounts add check (length(name) < 1000)', /^accounts\.\w+ is a new limit/],
  ['create unique index a on files (id, state)', /^files\.a is a new limit/],
  [
    `alter domain removal_cause drop constraint removal_cause_check;
     alter domain removal_cause add constraint removal_cause_check
       check (value in ('expired', 'caller')) not valid`,
    /^removal_cause\.removal_cause_check is another limit/,
  ],
  ['drop function refuse_stored_task()', /^the function refuse_stored_task\(\).* is gone$/],
  ['revoke execute on function make_key from video_api', /^the privilege "video_api execute/],
  ['revoke select on usage_days from video_api', /^the privilege "video_api select usage_days/],
  [
    'revoke execute on function answer_repeat from public',
    /^the privilege "PUBLIC execute answer_repeat" is gone$/,
  ],
  [
    `create or replace function refuse_stored_task() returns boolean language sql as 'select true'`,
    /^the function refuse_stored_task\(\) is another one$/,
  ],
  [
    `create trigger a before insert on tasks for each row execute function refuse_change()`,
    /^the trigger tasks\.a is new$/,
  ],
  [
    `drop trigger transfers_immutable on transfers;
     create trigger transfers_immutable before update on transfers
       for each row execute function refuse_change()`,
    /^the trigger transfers\.transfers_immutable is another one$/,
  ],
  [
    'drop trigger transfers_immutable on transfers',
    /^the trigger transfers\.transfers_immutable is gone$/,
  ],
  ['alter table tasks enable row level security', /^the row security tasks is new$/],
  [
    `alter table tasks alter column status set expression as (object->>'state')`,
    /^the value tasks\.status is another one$/,
  ],
  [
    'alter table callbacks alter column deliveries set default 7',
    /^the value callbacks\.deliveries is/,
  ],
  [
    'alter table webhooks add constraint a exclude using btree (url with =)',
    /^webhooks\.a is a new limit: EXCLUDE/,
  ],
  [
    `alter table usage_state add column a int not null default 1;
     create unique index b on usage_state (a)`,
    /^usage_state\.b is a new limit/,
  ],
];

export const harmless: readonly string[] = [
  'create table a (b int not null unique)',
  'alter table tasks add column a int check (a > 1)',
  'alter table accounts add column a int not null default 1',
  'alter table tasks add column a int unique',
  'alter table tasks add column a bigint generated always as identity unique',
  `create function a() returns int language sql as 'select 1'`,
  `create table a (b int); alter table a enable row level security;
   create trigger c before insert on a for each row execute function refuse_change()`,
  'create index a on tasks (created_at)',
  'grant select on operator_log to video_worker',
  `alter domain removal_cause drop constraint removal_cause_check;
   alter domain removal_cause add constraint removal_cause_check
     check (value in ('expired', 'caller', 'operator', 'another'))`,
];

/** What the processes of the release lose by a step, which is rolled back. */
export async function lostBy(db: Knex, release: Release, step: string): Promise<readonly string[]> {
  const trx = await db.transaction();
  try {
    await trx.raw(step);
    return takenAway(release.schema, await schemaState(trx));
  } finally {
    await trx.rollback();
  }
}
