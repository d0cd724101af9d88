// The books: what each customer has, and every movement there ever was. Movements are never changed and never removed; a
// trigger sees to that for everybody, ourselves included.

import type { Knex } from 'knex';

export async function createLedger(db: Knex.Transaction): Promise<void> {
  await db.raw(balancesSql);
  await db.raw(transfersSql);
  await db.raw(immutableSql);
}

// A row of `balances` is what one customer has: free to spend, and set aside for tasks under way. It is kept by the same
// statement that writes the movement, can always be recomputed from them, and numbers them without gaps. Below zero
// only by a settlement that came out higher than its hold. The house's own sums are not stored: they would be one row
// that every customer waits for.
const balancesSql = `
create table balances (
  account_id text primary key references accounts (id),
  available  bigint not null default 0,
  held       bigint not null default 0 check (held >= 0),
  open_tasks integer not null default 0 check (open_tasks >= 0),
  last_seq   bigint not null default 0
);
`;

// A row of `transfers` is one movement of money from one ledger account (debit) to another (credit). The id is made by
// whoever asks for it, so asking twice moves once. The customer's two accounts are `available` and `held`.
const transfersSql = `
create table transfers (
  id              text primary key,
  account_id      text not null references accounts (id),
  seq             bigint not null,
  kind            text not null check (kind in
                    ('hold', 'settle', 'refund', 'extra_charge', 'credit', 'correction')),
  debit           text not null check (debit in
                    ('available', 'held', 'credits', 'corrections')),
  credit          text not null check (credit in
                    ('available', 'held', 'credits', 'corrections',
                     'revenue_generation', 'revenue_super_resolution')),
  amount          bigint not null check (amount > 0),
  available_after bigint not null,
  task_id         text,
  reason          text not null default '',
  created_at      timestamptz not null default now(),
  unique (account_id, seq),
  check (debit <> credit)
);
create index transfers_task on transfers (task_id) where task_id is not null;
`;

const immutableSql = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'transfers are never changed or removed; write a correction instead';
end $$;
create trigger transfers_immutable before update or delete on transfers
  for each row execute function refuse_change();
create trigger transfers_not_truncated before truncate on transfers
  for each statement execute function refuse_change();
`;
