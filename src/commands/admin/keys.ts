// API keys as the operator hands them out and takes them back.

import { type Config, demand } from '../../config';
import { createKey, type KeyRow, listKeys, revokeKey } from '../../db/api-keys';
import { loadCatalogueOf } from '../catalogue';
import { CommandError } from '../command';
import type { AdminCommand, Input } from './command-line';
import { fields, table } from './tables';
import { knownAccount, momentOf, nameOf } from './values';

const create: AdminCommand = {
  name: 'keys create',
  operands: [],
  options: {
    account: { value: 'ID', about: 'whose key', required: true },
    name: { value: 'NAME', about: 'what it is for' },
    models: { value: 'A,B', about: 'the models it may use; all when left out' },
    channels: { value: 'A,B', about: 'the channels it may use; all when left out' },
    expires: { value: 'DATE', about: 'from then on it is refused, such as 2027-01-31' },
  },
  about: 'a new key, which is shown once',
  async run({ config, db, now }, input) {
    const { apiKeyPepper } = demand(config, ['API_KEY_PEPPER']);
    const limits = await limitsOf(config, input);
    const expires = input.option('expires');
    const expiresAt = expires === undefined ? undefined : momentOf(expires, 'expires');
    if (expiresAt && expiresAt.getTime() <= now()) {
      throw new CommandError(`--expires ${expires} has passed already.`, 2);
    }
    const name = input.option('name');
    const { accountId } = await knownAccount(db(), input.option('account') ?? '');
    const data = await createKey(db(), {
      accountId,
      pepper: apiKeyPepper,
      ...(name === undefined ? {} : { name: nameOf(name, 'name') }),
      ...limits,
      ...(expiresAt ? { expiresAt } : {}),
    });
    return { data, text: `${fields(data)}\n\nThe key is not shown again.` };
  },
};

const list: AdminCommand = {
  name: 'keys list',
  operands: [],
  options: { account: { value: 'ID', about: 'the keys of this account only' } },
  about: 'keys by their last four characters, with what they may do',
  async run({ db }, input) {
    const account = input.option('account');
    if (account !== undefined) await knownAccount(db(), account);
    const keys = await listKeys(db(), account);
    return { data: keys, text: keyTable(keys) };
  },
};

const revoke: AdminCommand = {
  name: 'keys revoke',
  operands: ['KEYID'],
  options: {},
  about: 'the key is refused from now on; this cannot be undone',
  async run({ db }, input) {
    const keyId = input.operand('KEYID');
    if (!(await revokeKey(db(), keyId))) throw new CommandError(`There is no key ${keyId}.`);
    const key = (await listKeys(db())).find((row) => row.keyId === keyId);
    return { data: key, text: `The key ${keyId} is revoked.` };
  },
};

export const keyCommands = [create, list, revoke];

function keyTable(keys: readonly KeyRow[]): string {
  return table(keys, [
    { title: 'KEY', of: ({ keyId }) => keyId },
    { title: 'ACCOUNT', of: ({ accountId }) => accountId },
    { title: 'NAME', of: ({ name }) => name },
    { title: 'ENDS IN', of: ({ lastFour }) => lastFour },
    { title: 'MODELS', of: ({ models }) => models?.join(',') ?? 'all' },
    { title: 'CHANNELS', of: ({ channels }) => channels?.join(',') ?? 'all' },
    { title: 'CREATED', of: ({ createdAt }) => createdAt },
    { title: 'EXPIRES', of: ({ expiresAt }) => expiresAt },
    { title: 'REVOKED', of: ({ revokedAt }) => revokedAt },
  ]);
}

/** A name that the catalogue does not know would make a key that can do nothing. */
async function limitsOf(config: Config, input: Input) {
  const models = wordsOf(input, 'models');
  const channels = wordsOf(input, 'channels');
  if (!models && !channels) return {};
  const catalogue = await loadCatalogueOf(config);
  for (const [what, words, known] of [
    ['model', models, catalogue.models],
    ['channel', channels, catalogue.channels],
  ] as const) {
    const unknown = words?.find((word) => !Object.hasOwn(known, word));
    if (unknown === undefined) continue;
    const names = Object.keys(known).join(', ');
    throw new CommandError(`There is no ${what} "${unknown}". The catalogue has: ${names}.`, 2);
  }
  return { ...(models ? { models } : {}), ...(channels ? { channels } : {}) };
}

function wordsOf(input: Input, name: string): readonly string[] | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  const words = [...new Set(text.split(',').map((word) => word.trim()))].filter(Boolean);
  if (words.length > 0) return words;
  throw new CommandError(`--${name} names at least one, separated by commas.`, 2);
}
