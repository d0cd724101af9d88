// Admin commands for the ledger: the full audit, what all books say, and the statement of a customer.

import { slowTransaction } from '../../database/silent-connections';
import { audit } from '../../money/audit.rows';
import { readBooks } from '../../money/books.rows';
import { type StatementRow, statement } from '../../money/statement.rows';
import { reasonOf } from '../../money/transfers.rules';
import type { AdminCommand } from './command-line';
import { daysOf, periodOptions } from './period';
import { amount, fields, table } from './tables';
import { countOf, knownAccount, numberAfter, pageOf, pageOptions } from './values';

const proof: AdminCommand = {
  name: 'audit',
  http: { none: 'it reads every movement' },
  about: 'proves the books in one run; exit code 1 and what differs, if anything does',
  async run({ db }) {
    const data = await audit(db());
    const { accounts, transfers, differences } = data;
    const size = `${accounts} accounts, ${transfers} movements`;
    if (differences.length === 0) return { data, text: `The books agree: ${size}.` };
    const rows = table(differences, [
      { title: 'NOT SO', of: ({ check }) => check },
      { title: 'FOR', of: ({ subject }) => subject },
      { title: 'FOUND', of: ({ found }) => found },
    ]);
    return { data, text: `The books do not agree: ${size}.\n\n${rows}`, exitCode: 1 };
  },
};

const books: AdminCommand = {
  name: 'books',
  http: { at: 'GET /books', role: 'viewer' },
  options: periodOptions,
  about: 'what customers own and were given, and until when the audit found no difference',
  async run({ db }, input) {
    const days = await daysOf(db(), input);
    const found = await slowTransaction(db(), (trx) => readBooks(trx, days));
    const data = {
      ...days,
      credited: amount(found.creditedMicros),
      corrected: amount(found.correctedMicros),
      available: amount(found.availableMicros),
      held: amount(found.heldMicros),
      auditedAt: found.auditedAt,
      agreedUntil: found.agreedUntil,
    };
    return { data, text: fields(data) };
  },
};

const movements: AdminCommand = {
  name: 'statement',
  http: {
    at: 'GET /accounts/:ID/statement',
    role: 'viewer',
    csv: {
      columns: ['number', 'at', 'kind', 'taskId', 'amount', 'change', 'balanceAfter', 'reason'],
      rows: 'movements',
    },
  },
  operands: ['ID'],
  options: pageOptions,
  about: "a customer's movements with the balance after each, the newest first",
  async run({ db }, input) {
    const limit = countOf(input, 'limit', 50, 10_000);
    const after = numberAfter(input);
    const account = await knownAccount(db(), input.operand('ID'));
    const found = await statement(db(), {
      accountId: account.accountId,
      limit: limit + 1,
      ...(after === undefined ? {} : { after }),
    });
    const { rows, ...next } = pageOf(found, limit, ({ seq }) => seq);
    const head = {
      accountId: account.accountId,
      available: amount(account.availableMicros),
      held: amount(account.heldMicros),
      currency: account.currency,
    };
    const data = { ...head, movements: rows.map(shownMovement) };
    return { data, text: `${fields(head)}\n\n${movementTable(data.movements)}`, ...next };
  },
};

export const bookCommands = [proof, books, movements];

const shownMovement = (row: StatementRow) => ({
  number: row.seq,
  at: row.at,
  kind: row.kind,
  taskId: row.taskId,
  amount: amount(row.amountMicros),
  change: amount(row.changeMicros),
  balanceAfter: amount(row.availableAfterMicros),
  reason: reasonOf(row),
});

function movementTable(rows: readonly ReturnType<typeof shownMovement>[]): string {
  return table(rows, [
    { title: 'NUMBER', of: ({ number }) => number },
    { title: 'AT', of: ({ at }) => at },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'AMOUNT', of: ({ amount: moved }) => moved },
    { title: 'CHANGE', of: ({ change }) => change },
    { title: 'BALANCE AFTER', of: ({ balanceAfter }) => balanceAfter },
    { title: 'TASK', of: ({ taskId }) => taskId },
    { title: 'REASON', of: ({ reason }) => reason },
  ]);
}
