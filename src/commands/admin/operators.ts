// Admin commands about operators: who may sign in to the console, and with which role. A key is shown
// once. The first owner is made by the command line, because nobody can sign in before.

import type { Knex } from 'knex';
import {
  addOperator,
  disableOperator,
  findOperator,
  listOperators,
  type OperatorRow,
  renewKey,
} from '../../operators/operators.rows';
import { operatorRoles } from '../../operators/roles.rules';
import { listSessions } from '../../operators/sessions.rows';
import { CommandError, notFound } from '../command';
import type { AdminCommand } from './command-line';
import { fields, moment, table } from './tables';
import { choiceOf, expiryOf, nameOf, nothingChanged } from './values';

const changes = () => ({ kind: 'service' }) as const;

const expiry = {
  expires: { value: 'DATE', about: 'refused from then on, such as 2027-01-31' },
} as const;

const list: AdminCommand = {
  name: 'operators list',
  http: { at: 'GET /operators', role: 'owner' },
  about: 'who may sign in to the console, and the role of each',
  async run({ db }) {
    const data = await listOperators(db());
    const text = table(data, [
      { title: 'OPERATOR', of: ({ operatorId }) => operatorId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'KEY ENDS IN', of: ({ lastFour }) => lastFour },
      { title: 'CREATED', of: ({ createdAt }) => createdAt },
      { title: 'EXPIRES', of: ({ expiresAt }) => expiresAt },
      { title: 'DISABLED', of: ({ disabledAt }) => disabledAt },
    ]);
    return { data, text };
  },
};

const add: AdminCommand = {
  name: 'operators add',
  http: { at: 'POST /operators', role: 'owner', asksWhy: true },
  options: {
    ...expiry,
    name: { value: 'NAME', about: 'stands in the log of operators', required: true },
    role: { value: operatorRoles.join('|'), about: 'what it may do', required: true },
  },
  changes,
  about: 'a new operator of the console, with a key, which is shown once',
  async run({ db, now }, input) {
    const name = nameOf(input.option('name') ?? '', 'name');
    const role = choiceOf(input, 'role', operatorRoles) ?? 'viewer';
    const expiresAt = expiryOf(input, now());
    const added = await addOperator(db(), { name, role, ...(expiresAt ? { expiresAt } : {}) });
    if (!added) throw new CommandError(`There is an operator ${name} already.`);
    const data = { ...added, name, role };
    const text = `${fields(data)}\n\nThe key is not shown again.`;
    return { data, text, effect: `${added.operatorId} as ${role}` };
  },
};

const disable: AdminCommand = {
  name: 'operators disable',
  http: { at: 'POST /operators/:ID/disable', role: 'owner', asksWhy: true },
  operands: ['ID'],
  changes,
  about: 'refuses its key at once and ends its sessions; this cannot be undone',
  async run({ db }, input) {
    const { operatorId, disabledAt } = await knownOperator(db(), input.operand('ID'));
    await disableOperator(db(), operatorId);
    const data = await knownOperator(db(), operatorId);
    const was = disabledAt && `The operator was disabled before, at ${moment(disabledAt)}.`;
    const effect = disabledAt ? `disabled; ${nothingChanged}` : 'enabled → disabled';
    return { data, text: was ?? `The operator ${data.name} is disabled.`, effect };
  },
};

const renew: AdminCommand = {
  name: 'operators renew',
  http: { at: 'POST /operators/:ID/key', role: 'owner', asksWhy: true },
  operands: ['ID'],
  options: expiry,
  changes,
  about: 'a new key, which is shown once; the old one and its sessions end at once',
  async run({ db, now }, input) {
    const operator = await knownOperator(db(), input.operand('ID'));
    const { operatorId, name, lastFour, disabledAt } = operator;
    if (disabledAt) throw new CommandError(`The operator ${name} is disabled, and stays so.`);
    const expiresAt = expiryOf(input, now()) ?? operator.expiresAt;
    if (expiresAt && expiresAt.getTime() <= now()) {
      const passed = `The operator ${name} expired at ${moment(expiresAt)}.`;
      throw new CommandError(`${passed} Give --expires with a later date.`);
    }
    const key = await renewKey(db(), operatorId, expiresAt ?? undefined);
    const data = { operatorId, name, key };
    const text = `${fields(data)}\n\nThe key is not shown again.`;
    return { data, text, effect: `key …${lastFour} → …${key.slice(-4)}` };
  },
};

const sessions: AdminCommand = {
  name: 'operators sessions',
  http: { at: 'GET /operators/sessions', role: 'owner' },
  about: 'who is signed in to the console with a browser, the last seen first',
  async run({ db }) {
    const data = await listSessions(db());
    const text = table(data, [
      { title: 'OPERATOR', of: ({ operatorId }) => operatorId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'SIGNED IN', of: ({ createdAt }) => createdAt },
      { title: 'SEEN', of: ({ seenAt }) => seenAt },
    ]);
    return { data, text };
  },
};

export const operatorCommands = [list, sessions, add, disable, renew];

async function knownOperator(db: Knex, named: string): Promise<OperatorRow> {
  const operator = await findOperator(db, named);
  if (operator) return operator;
  throw notFound(`There is no operator ${named}. "operators list" shows the ids.`);
}
