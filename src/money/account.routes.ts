// GET of an account's balance and of its statement. The statement has every movement, newest first,
// as JSON or CSV.

import { showAccount } from '../accounts/accounts.rows';
import { formatMicros } from '../accounts/amount.rules';
import { assert } from '../assert';
import { csvOf } from '../contract/csv';
import { movementSchema } from '../contract/reply-schema';
import type { KeyedRouter } from '../gateway/context';
import { afterOf, limitOf, readQuery, refuseUnknown } from '../gateway/paging';
import { queryOf } from '../gateway/query';
import { type StatementRow, statement } from './statement.rows';
import { reasonOf } from './transfers.rules';

export function accountRoutes(router: KeyedRouter): void {
  router.get('/v1/account', async (ctx) => {
    const { db, caller } = ctx.state;
    const account = await showAccount(db, caller.accountId);
    assert(account, 'an account with a key has books');
    ctx.body = {
      available: formatMicros(account.availableMicros),
      held: formatMicros(account.heldMicros),
      currency: account.currency,
    };
  });

  router.get('/v1/account/statement', async (ctx) => {
    const { limit, after } = readQuery(queryOf(ctx), (reader) => {
      refuseUnknown(reader, ['limit', 'after']);
      return { limit: limitOf(reader), after: afterOf(reader, numberOf) };
    });
    const { db, caller } = ctx.state;
    const { accountId } = caller;
    // One row more than the limit is read, to see whether there is another page.
    const found = await statement(db, { accountId, limit: limit + 1, after });
    const page = found.slice(0, limit);
    const next = found.length > limit ? String(page.at(-1)?.seq) : null;
    ctx.vary('Accept');
    if (ctx.accepts('json', 'text/csv') === 'text/csv') {
      if (next) ctx.set('Link', `</v1/account/statement?limit=${limit}&after=${next}>; rel="next"`);
      ctx.type = 'text/csv';
      ctx.body = csvOf(columns, page.map(movementOf));
      return;
    }
    ctx.body = { data: page.map(movementOf), next };
  });
}

function numberOf(text: string): number | null {
  const number = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(number) ? number : null;
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
    reason: reasonOf(row),
  };
}

const columns = Object.keys(movementSchema.shape);
