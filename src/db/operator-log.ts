// The log of operators' actions. An action is an admin command that changes something. A row is
// written in the transaction of the action and is never changed. The row contains the fields that
// differ between the states before and after the action. The row never contains a secret: a key is
// identified by its last characters, and a webhook secret by its number.

import type { Knex } from 'knex';

/**
 * The object that an action changes. `id` is null if the action creates the object, or if the
 * object has no id.
 */
export interface Subject {
  /**
   * `money`: an account whose balance changes too. The balance is locked until the transaction of
   * the action ends.
   */
  readonly kind: 'account' | 'money' | 'key' | 'task' | 'reconciler' | 'encryption';
  readonly id: string | null;
}

export interface Act {
  readonly who: string;
  /** The command as it was typed. */
  readonly command: string;
  readonly why: string | null;
}

/** The state of a subject: the name and the value of each logged field. */
type State = Readonly<Record<string, unknown>>;

interface Known {
  readonly accountId: string | null;
  readonly state: State;
}

/**
 * Runs `work` and writes the row of the log in the same transaction. `created` is the id of a
 * subject that `work` has created.
 */
export async function logged<T extends { readonly created?: string }>(
  db: Knex,
  act: Act,
  subject: Subject,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (trx) => {
    const before = await find(trx, subject);
    const done = await work(trx);
    const after = await find(trx, { ...subject, id: done.created ?? subject.id });
    await trx('operator_log').insert({
      ...act,
      account_id: after?.accountId ?? null,
      before: differing(before?.state, after?.state),
      after: differing(after?.state, before?.state),
    });
    return done;
  });
}

/** The fields of `one` that are absent or different in `other`. */
function differing(one: State = {}, other: State = {}): State {
  const parts = Object.entries(one)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(other[name]))
    .map(([name, value]) => {
      const before = other[name];
      return [name, isState(value) && isState(before) ? differing(value, before) : value];
    });
  return Object.fromEntries(parts);
}

function isState(value: unknown): value is State {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function find(trx: Knex.Transaction, { kind, id }: Subject): Promise<Known | undefined> {
  if (kind === 'money') {
    await trx.raw('select 1 from balances where account_id = ? for no key update', [id]);
  }
  const { rows } = await trx.raw<{ rows: Known[] }>(
    finders[kind],
    kind === 'reconciler' || kind === 'encryption' ? [] : [id],
  );
  return rows[0];
}

const shownAmount = (micros: string) => `(${micros} * 0.000001)::numeric(24, 6)::text`;

const accountState = `
  jsonb_build_object(
    'name', accounts.name, 'disabledAt', disabled_at, 'erasedAt', erased_at, 'runningMax', running_max,
    'queuedMax', queued_max, 'weight', weight, 'createRate', accounts.create_rate,
    'readRate', accounts.read_rate, 'filesKeptDays', files_kept_days,
    'tasksKeptDays', tasks_kept_days, 'timeZone', time_zone)
  || coalesce((select jsonb_object_agg('key ' || id, jsonb_build_object(
                        'name', name, 'endsIn', last_four, 'models', models, 'channels', channels,
                        'createRate', create_rate, 'readRate', read_rate,
                        'expiresAt', expires_at, 'revokedAt', revoked_at))
                 from api_keys where account_id = accounts.id), '{}')
  || coalesce((select jsonb_object_agg(concat_ws(' ', 'budget', period, key_id),
                                       ${shownAmount('limit_micros')})
                 from budgets where account_id = accounts.id), '{}')
  || coalesce((select jsonb_object_agg('webhook secret ' || id,
                                       jsonb_build_object('expiresAt', expires_at))
                 from webhook_secrets where account_id = accounts.id), '{}')`;

const finders: Readonly<Record<Subject['kind'], string>> = {
  account: `select id as "accountId", ${accountState} as state from accounts where id = ?`,
  key: `select id as "accountId", ${accountState} as state from accounts
         where id = (select account_id from api_keys where id = ?)`,
  money: `select id as "accountId", ${accountState}
                 || jsonb_build_object('available', ${shownAmount('available')}) as state
            from accounts join balances on account_id = id where id = ?`,
  task: `select tasks.account_id as "accountId",
                jsonb_build_object('status', status, 'callback', state, 'deliveries', deliveries)
                  as state
           from tasks left join callbacks on task_id = id where id = ?`,
  reconciler: `select null as "accountId",
                      jsonb_build_object('lossConfirmedUntil', loss_confirmed_until) as state
                 from reconcile_state`,
  encryption: `select null as "accountId", '{}'::jsonb as state`,
};

export interface LogRow {
  readonly number: number;
  readonly at: Date;
  readonly who: string;
  /** The database role of the connection. */
  readonly role: string;
  readonly command: string;
  readonly accountId: string | null;
  readonly before: State;
  readonly after: State;
  readonly why: string | null;
}

/** The operators' actions in the log, newest first. */
export async function listActs(
  db: Knex,
  filter: { readonly limit: number; readonly accountId?: string },
): Promise<readonly LogRow[]> {
  const query = db('operator_log')
    .select(
      db.raw(`id as number, at, who, role, command, account_id as "accountId", before, after, why`),
    )
    .orderBy('id', 'desc');
  if (filter.accountId !== undefined) query.where('account_id', filter.accountId);
  return (await query.limit(filter.limit)) as LogRow[];
}
