// The log of operators' actions. An action is an admin command that changes something. A row is
// written in the transaction of the action and is never changed. It says who gave which command,
// when and why. No secret is an argument of a command. If somebody pastes one nevertheless, as in a
// reason, the row gets its last four characters.

import type { Knex } from 'knex';

/**
 * The object that an action changes. `id` is null if the action creates the object. `service`: all
 * accounts together.
 */
export type Subject =
  | { readonly kind: 'account' | 'key' | 'task' | 'file' | 'webhook'; readonly id: string | null }
  | { readonly kind: 'service' };

export type Via = 'cli' | 'api' | 'console';

export interface Act {
  readonly who: string;
  /** The command as it can be typed. */
  readonly command: string;
  readonly why: string | null;
  /** The operator who called the admin API; absent for a command line. */
  readonly operatorId?: string;
  /** `console`: in the session of a browser. Absent for a command line. */
  readonly via?: Via;
}

interface Done {
  /** What was changed, such as `running-max none → 5`. Without it the act fails. */
  readonly effect?: string;
  /** The id of a subject that the work has created. */
  readonly created?: string;
}

const secrets = /\b(?:v[ko]_|whsec_)[\w+/=-]{8,}/g;
const withoutSecrets = (text: string) => text.replace(secrets, (secret) => `…${secret.slice(-4)}`);

/** Runs `work` and writes the row of the log in the same transaction. */
export async function logged<T extends Done>(
  db: Knex,
  act: Act,
  subject: Subject,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (trx) => {
    const done = await work(trx);
    const { operatorId, via, who, command, why } = act;
    await trx('operator_log').insert({
      who,
      command: withoutSecrets(command),
      why: why && withoutSecrets(why),
      operator_id: operatorId ?? null,
      via: via ?? 'cli',
      effect: done.effect,
      account_id: await accountOf(trx, subject, done.created),
    });
    return done;
  });
}

const accountIds = {
  // An operator may have named an account by its name, which is unique then.
  account: 'select id from accounts where :id in (id, name) order by id = :id desc limit 1',
  key: 'select account_id as id from api_keys where id = :id',
  task: 'select account_id as id from tasks where id = :id',
  webhook: 'select account_id as id from webhooks where id = :id',
  file: 'select account_id as id from files where :id in (id, link_token)',
};

async function accountOf(
  trx: Knex.Transaction,
  subject: Subject,
  created: string | undefined,
): Promise<string | null> {
  if (subject.kind === 'service') return null;
  const id = created ?? subject.id;
  const { rows } = await trx.raw<{ rows: { id: string }[] }>(accountIds[subject.kind], { id });
  return rows[0]?.id ?? null;
}

export interface LogRow {
  readonly number: number;
  readonly at: Date;
  readonly who: string;
  /** The database role of the connection. */
  readonly role: string;
  readonly command: string;
  readonly effect: string;
  readonly accountId: string | null;
  readonly why: string | null;
  readonly via: Via;
}

interface LogFilter {
  readonly limit: number;
  readonly accountId?: string;
  readonly who?: string;
  /** Acts with a smaller number only. */
  readonly after?: number;
}

/** The operators' actions in the log, newest first. */
export async function listActs(db: Knex, filter: LogFilter): Promise<readonly LogRow[]> {
  const { accountId, who, after, limit } = filter;
  const query = db('operator_log')
    .select(
      db.raw(`id as number, at, who, role, command, effect, account_id as "accountId", why, via`),
    )
    .orderBy('id', 'desc');
  if (accountId !== undefined) query.where('account_id', accountId);
  if (who !== undefined) query.where('who', who);
  if (after !== undefined) query.where('id', '<', after);
  return (await query.limit(limit)) as LogRow[];
}
