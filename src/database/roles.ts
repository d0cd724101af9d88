// The privileges of the database roles. The owner of the tables runs the migrations. The roles of
// API, worker and operators have only the privileges listed here. No role can change the schema or
// remove a task, and none can change or remove rows of append-only tables. No process that serves
// callers can write a key: a worker cannot even read one. An API has two functions, which do nothing
// without a key that manages keys. It cannot move money: it can only count the pending tasks that it
// stores and ends.

import type { Knex } from 'knex';

export interface Roles {
  readonly api: string | null;
  readonly worker: string | null;
  /** The role of the admin commands and of the console. */
  readonly operator: string | null;
}

type Privileges = Readonly<Record<string, string>>;

// A row lock needs the UPDATE privilege on at least one column. Only for this reason UPDATE is
// granted on `accounts.name`. API and worker do not change this column. A customer sets
// `accounts.alert_below`.
const ofApi: Privileges = {
  schema_migrations: 'select',
  accounts: 'select, update (name, alert_below)',
  api_keys: 'select',
  // Only the worker can read the secret of a webhook.
  webhooks: 'select (id, account_id, url, events, created_at), insert, delete',
  tasks: 'select, insert, update',
  task_labels: 'select, insert',
  jobs: 'select',
  loops: 'select',
  balances: 'select, update (pending, pending_tasks)',
  transfers: 'select',
  usage_days: 'select',
  usage_state: 'select',
  budgets: 'select',
  refusals_days: 'select, insert, update (calls)',
  callbacks: 'select, insert, update (deliveries, state, next_at, due_at, changed_at, webhook_id)',
  callback_attempts: 'select',
  alerts: 'select, insert (id, account_id, event, subject, until, data)',
  files: 'select, insert, update, delete',
};

const functionsOfApi = ['make_key', 'end_key'];

// The worker signs callbacks, so it reads their secrets.
const ofWorker: Privileges = {
  schema_migrations: 'select',
  accounts: 'select, update (name)',
  webhook_secrets: 'select',
  webhooks: 'select',
  tasks: 'select, update',
  task_labels: 'select, delete',
  jobs: 'select, insert, update, delete',
  loops: 'select, insert, update',
  balances: 'select, update',
  transfers: 'select, insert',
  usage_days: 'select, insert, delete',
  usage_state: 'select, update',
  refusals_days: 'select, delete',
  callbacks: 'select, insert, update, delete',
  callback_attempts: 'select, insert, update, delete',
  alerts: 'select, insert, update, delete',
  files: 'select, insert, update, delete',
};

const keyColumns =
  'id, account_id, name, last_four, models, channels, create_rate, read_rate, created_at, expires_at, revoked_at, manages_keys, made_by';

const ofOperator: Privileges = {
  schema_migrations: 'select',
  accounts: 'select, insert, update',
  api_keys: `select (${keyColumns}), insert, update`,
  // The column `secret` is missing here: an operator sees a secret only when it is created.
  webhook_secrets: 'select (id, account_id, created_at, expires_at), insert, update (expires_at)',
  webhooks: 'select (id, account_id, url, events, created_at), delete',
  tasks: 'select, update',
  task_labels: 'select, delete',
  jobs: 'select, update (report, refusal), delete',
  loops:
    'select, insert (kind, channel, paused_at, paused_by, paused_why), update (loss_confirmed_until, paused_at, paused_by, paused_why)',
  balances: 'select, insert, update',
  transfers: 'select, insert',
  usage_days: 'select, insert, delete',
  usage_state: 'select, update',
  budgets: 'select, insert, update, delete',
  refusals_days: 'select, delete',
  callbacks: 'select, insert, update, delete',
  callback_attempts: 'select, update (error, reply), delete',
  alerts: 'select, delete',
  files: 'select, update, delete',
  operator_log: 'select, insert',
  operators: 'select, insert, update',
  operator_sessions: 'select, insert, update, delete',
};

/** A role that cannot be used. The message is for the operator. */
export class UnfitRole extends Error {
  override readonly name = 'UnfitRole';
}

/** Gives the roles exactly their privileges. A call may be repeated, also with other roles. */
export async function grantPrivileges(trx: Knex.Transaction, roles: Roles): Promise<void> {
  const all = [
    { setting: 'DATABASE_API_ROLE', role: roles.api, privileges: ofApi },
    { setting: 'DATABASE_WORKER_ROLE', role: roles.worker, privileges: ofWorker },
    { setting: 'DATABASE_OPERATOR_ROLE', role: roles.operator, privileges: ofOperator },
  ];
  const named = all.flatMap(({ role }) => role ?? []);
  if (new Set(named).size < named.length) {
    const settings = all.map(({ setting }) => setting).join(', ');
    throw new UnfitRole(`Two of ${settings} name the same role.`);
  }
  for (const { setting, role, privileges } of all) {
    if (role === null) continue;
    await grant(trx, setting, role, privileges);
    for (const name of privileges === ofApi ? functionsOfApi : []) {
      await trx.raw('grant execute on function ?? to ??', [name, role]);
    }
  }
}

async function grant(
  trx: Knex.Transaction,
  setting: string,
  role: string,
  privileges: Privileges,
): Promise<void> {
  await refuseUnfit(trx, setting, role);
  await trx.raw('revoke all on all tables in schema public from ??', [role]);
  await trx.raw('revoke all on all functions in schema public from ??', [role]);
  await trx.raw('grant usage on schema public to ??', [role]);
  for (const [table, privilege] of Object.entries(privileges)) {
    await trx.raw(`grant ${privilege} on ?? to ??`, [table, role]);
  }
}

async function refuseUnfit(trx: Knex.Transaction, setting: string, role: string): Promise<void> {
  const { rows } = await trx.raw<{ rows: { isOwner: boolean; mayCreate: boolean }[] }>(
    `select pg_has_role(rolname, current_user, 'member') as "isOwner",
            has_schema_privilege(rolname, 'public', 'create') as "mayCreate"
       from pg_roles where rolname = ?`,
    [role],
  );
  const [found] = rows;
  if (!found) {
    throw new UnfitRole(
      `There is no role "${role}" (${setting}). Create it first: docs/operations.md, "Database roles".`,
    );
  }
  if (found.isOwner) {
    throw new UnfitRole(
      `The role "${role}" (${setting}) is a superuser or may act as the owner of the tables, so no ` +
        'privilege limits it. Name another role.',
    );
  }
  if (found.mayCreate) {
    throw new UnfitRole(
      `The role "${role}" (${setting}) may create tables. As a superuser, run in this database: ` +
        'revoke create on schema public from public',
    );
  }
}
