// Admin commands for the ledger: one shows the statement of a customer, the other runs the full
// audit.

import { audit } from '../../money/audit.rows';
import { type StatementRow, statement } from '../../money/statement.rows';
import { reasonOf } from '../../money/transfers.rules';
import { CommandError } from '../command';
import type { AdminCommand } from './command-line';
import { amount, fields, table } from './tables';
import { countOf, knownAccount } from './values';

const proof: AdminCommand = {
  name: 'audit',
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

const movements: AdminCommand = {
  name: 'statement',
  operands: ['ID'],
  options: {
    limit: { value: 'N', about: 'how many movements, the newest first (50)' },
    after: { value: 'NUMBER', about: 'the last number of the page before' },
  },
  about: "a customer's movements with the balance after each",
  async run({ db }, input) {
    const limit = countOf(input, 'limit', 50, 10_000);
    const after = afterOf(input.option('after'));
    const account = await knownAccount(db(), input.operand('ID'));
    const rows = await statement(db(), {
      accountId: account.accountId,
      limit,
      ...(after === undefined ? {} : { after }),
    });
    const head = {
      accountId: account.accountId,
      available: amount(account.availableMicros),
      held: amount(account.heldMicros),
      currency: account.currency,
    };
    const data = { ...head, movements: rows.map(shownMovement) };
    return { data, text: `${fields(head)}\n\n${movementTable(data.movements)}` };
  },
};

export const bookCommands = [proof, movements];

function afterOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CommandError(`--after is the number of a movement, not "${text}".`, 2);
}

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
