// The books: what each customer has, and every movement there ever was. Movements are never changed
// and never removed; a trigger sees to that for everybody, ourselves included.

import type { Knex } from 'knex';

export async function createLedger(db: Knex.Transaction): Promise<void> {
  await db.raw(balancesSql);
  await db.raw(transfersSql);
  await db.raw(immutableSql);
}

// A row of `balances` is what one customer has: free to spend, and set aside for tasks under way.
// It is kept by the same statement that writes the movement, can always be recomputed from them,
// and numbers them without gaps. Below zero only by a settlement that came out higher than its
// hold. The house's own sums are not stored: they would be one row that every customer waits for.
// Amounts stay where a JavaScript number is exact; half of each page is left free, so that the row
// every door of a customer changes is changed in place.
const balancesSql = `
create table balances (
  account_id text primary key references accounts (id),
  currency   text not null default 'CNY',
  available  bigint not null default 0
             check (available between -9007199254740991 and 9007199254740991),
  held       bigint not null default 0 check (held between 0 and 9007199254740991),
  open_tasks integer not null default 0 check (open_tasks >= 0),
  last_seq   bigint not null default 0
) with (fillfactor = 50);
`;

// A row of `transfers` is one movement of money from one ledger account (debit) to another
// (credit). The id is made by whoever asks for it, so asking twice moves once. The customer's two
// accounts are `available` and `held`; which kind may join which accounts is a closed list. The
// account needs no foreign key: its number comes from its row of `balances`.
const transfersSql = `
create table transfers (
  id              text primary key,
  account_id      text not null,
  seq             bigint not null,
  kind            text not null,
  debit           text not null,
  credit          text not null,
  amount          bigint not null check (amount between 1 and 9007199254740991),
  available_after bigint not null,
  held_after      bigint not null,
  task_id         text,
  reason          text not null default '',
  created_at      timestamptz not null default now(),
  unique (account_id, seq),
  constraint transfers_kinds check (
    case kind
      when 'hold'         then debit = 'available' and credit = 'held'
      when 'settle'       then debit = 'held'
                           and credit in ('revenue_generation', 'revenue_super_resolution')
      when 'refund'       then debit = 'held' and credit = 'available'
      when 'extra_charge' then debit = 'available'
                           and credit in ('revenue_generation', 'revenue_super_resolution')
      when 'credit'       then debit = 'credits' and credit = 'available'
      when 'correction'   then (debit, credit) in
                               (('corrections', 'available'), ('available', 'corrections'))
      else false
    end)
);
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
