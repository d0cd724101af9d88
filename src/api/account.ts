// What a customer sees of its books: what is free, what is held, and every movement, newest first,
// as JSON or as CSV.

import type { Knex } from 'knex';
import { showAccount } from '../db/accounts';
import { type StatementRow, statement } from '../db/statement';
import { assert } from '../domain/assert';
import { formatMicros } from '../domain/money';
import type { ApiRouter } from './context';
import { Refused } from './context';
import { invalid, limitOf, parameter } from './paging';

export function accountRoutes(router: ApiRouter, { db }: { readonly db: Knex }): void {
  router.get('/v1/account', async (ctx) => {
    const account = await showAccount(db, ctx.state.caller.accountId);
    assert(account, 'whoever has a key has an account with books');
    ctx.body = {
      available: formatMicros(account.availableMicros),
      held: formatMicros(account.heldMicros),
      currency: account.currency,
    };
  });

  router.get('/v1/account/statement', async (ctx) => {
    const limit = limitOf(ctx.query);
    const after = afterOf(ctx.query);
    const { accountId } = ctx.state.caller;
    // One more than asked for tells whether there is another page.
    const found = await statement(db, {
      accountId,
      limit: limit + 1,
      ...(after === null ? {} : { after }),
    });
    const page = found.slice(0, limit);
    const next = found.length > limit ? String(page.at(-1)?.seq) : null;
    ctx.vary('Accept');
    if (ctx.accepts('json', 'text/csv') === 'text/csv') {
      if (next) ctx.set('Link', `</v1/account/statement?limit=${limit}&after=${next}>; rel="next"`);
      ctx.type = 'text/csv';
      ctx.body = csvOf(page.map(movementOf));
      return;
    }
    ctx.body = { data: page.map(movementOf), next };
  });
}

function afterOf(query: Readonly<Record<string, unknown>>): number | null {
  const text = parameter(query, 'after');
  if (text === null) return null;
  const seq = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq)) return seq;
  throw new Refused(invalid('after', 'after must be the "next" of the page before.'));
}

function movementOf(row: StatementRow) {
  return {
    number: row.seq,
    at: Math.floor(row.at.getTime() / 1000),
    kind: row.kind,
    task_id: row.taskId,
    amount: formatMicros(row.amountMicros),
    change: formatMicros(row.changeMicros),
    balance_after: formatMicros(row.availableAfterMicros),
    currency: row.currency,
    reason: row.reason || reasons[row.kind],
  };
}

const reasons: Readonly<Record<StatementRow['kind'], string>> = {
  hold: 'held for a task',
  settle: 'charged from the hold',
  refund: 'returned from the hold',
  extra_charge: 'charged beyond the hold',
  credit: 'credit',
  correction: 'correction',
};

function csvOf(movements: readonly ReturnType<typeof movementOf>[]): string {
  const names = [
    'number',
    'at',
    'kind',
    'task_id',
    'amount',
    'change',
    'balance_after',
    'currency',
    'reason',
  ] as const;
  const lines = movements.map((movement) => names.map((name) => cell(movement[name])).join(','));
  return `${[names.join(','), ...lines].join('\r\n')}\r\n`;
}

/**
 * Quoted where it must be; text that a spreadsheet would take for a formula is defused, amounts are
 * left alone.
 */
function cell(value: string | number | null): string {
  let text = String(value ?? '');
  if (/^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
