// Admin commands that create, list and revoke API keys.

import {
  createKey,
  type KeyLimits,
  type KeyRow,
  listKeys,
  revokeKey,
  revokeMadeKeys,
  withMade,
} from '../../accounts/keys.rows';
import { setKeyRates } from '../../accounts/terms.rows';
import type { Config } from '../../config/config';
import { CommandError } from '../command';
import { catalogueIn } from './channels';
import type { AdminCommand, Input } from './command-line';
import { fields, moment, table } from './tables';
import { rateOptions, ratesOf } from './terms';
import {
  accountIdOf,
  countOf,
  expiryOf,
  knownAccount,
  knownKey,
  nameOf,
  nothingChanged,
  pageOf,
  pageOptions,
} from './values';

const create: AdminCommand = {
  name: 'keys create',
  // Whoever has a key reads what the customer reads.
  http: { at: 'POST /keys', role: 'operator', asksWhy: true },
  options: {
    account: { value: 'ID', about: 'whose key', required: true },
    name: { value: 'NAME', about: 'what it is for' },
    models: { value: 'A,B', about: 'the models it may use; all when left out' },
    channels: { value: 'A,B', about: 'the channels it may use; all when left out' },
    expires: {
      value: 'DATE',
      about: 'refused from then on: 2027-01-31 (00:00 UTC) or 2027-01-31T18:00:00+08:00',
    },
    ...rateOptions,
    'manages-keys': { about: 'may make and revoke keys of its account' },
  },
  changes: (input) => ({ kind: 'account', id: input.option('account') ?? '' }),
  about: 'a new key, which is shown once',
  async run({ config, db, now }, input) {
    const limits = await limitsOf(config, input);
    const expiresAt = expiryOf(input, now());
    const name = input.option('name');
    const rates = ratesOf(input);
    const { accountId } = await knownAccount(db(), input.option('account') ?? '');
    const data = await createKey(db(), {
      accountId,
      ...(name === undefined ? {} : { name: nameOf(name, 'name') }),
      ...limits,
      ...(expiresAt ? { expiresAt } : {}),
      managesKeys: input.flag('manages-keys'),
    });
    await setKeyRates(db(), data.keyId, rates);
    const shown = fields(expiresAt ? { ...data, expiresAt } : data);
    const end = expiresAt ? `\nIt is refused from ${moment(expiresAt)} on.` : '';
    const text = `${shown}\n\nThe key is not shown again.${end}`;
    return { data, text, effect: data.keyId };
  },
};

const list: AdminCommand = {
  name: 'keys list',
  http: {
    at: 'GET /keys',
    role: 'viewer',
    csv: {
      columns: [
        'keyId',
        'accountId',
        'name',
        'lastFour',
        'models',
        'channels',
        'createRate',
        'readRate',
        'createdAt',
        'expiresAt',
        'revokedAt',
        'managesKeys',
        'madeBy',
      ],
    },
  },
  options: { account: { value: 'ID', about: 'the keys of this account only' }, ...pageOptions },
  about: 'keys by their last four characters, with what they may do, the newest first',
  async run({ db }, input) {
    const limit = countOf(input, 'limit', 50, 10_000);
    const accountId = await accountIdOf(db(), input);
    const after = input.option('after');
    const found = await listKeys(db(), {
      limit: limit + 1,
      ...(accountId === undefined ? {} : { accountId }),
      ...(after === undefined ? {} : { after }),
    });
    const { rows, ...next } = pageOf(found, limit, ({ keyId }) => keyId);
    return { data: await withMade(db(), rows), text: keyTable(rows), ...next };
  },
};

const revoke: AdminCommand = {
  name: 'keys revoke',
  http: { at: 'POST /keys/:KEYID/revoke', role: 'operator', asksWhy: true },
  operands: ['KEYID'],
  changes: (input) => ({ kind: 'key', id: input.operand('KEYID') }),
  options: { 'with-made': { about: 'also all keys that this key has made' } },
  about: 'the key is refused within 30 seconds; this cannot be undone',
  async run({ db }, input) {
    const { keyId, revokedAt } = await knownKey(db(), input.operand('KEYID'));
    // At first the key itself: after that it makes no other.
    await revokeKey(db(), keyId);
    const ended = input.flag('with-made') ? await revokeMadeKeys(db(), keyId) : 0;
    const key = await knownKey(db(), keyId);
    const [data = { ...key, made: 0 }] = await withMade(db(), [key]);
    const change = revokedAt === null ? 'valid → revoked' : 'revoked before';
    const effect = ended > 0 ? `${change}; keys it made that were revoked: ${ended}` : change;
    const text = revokedText(data, { revokedAt, ended });
    const isChange = revokedAt === null || ended > 0;
    return { data, text, effect: isChange ? effect : `revoked; ${nothingChanged}` };
  },
};

// Each API process caches a valid key for up to 20 seconds (src/gateway/auth.ts).
function revokedText(
  { keyId, accountId, made }: KeyRow & { readonly made: number },
  was: { readonly revokedAt: Date | null; readonly ended: number },
): string {
  const withIt = `Keys that it has made are revoked too: ${was.ended}.`;
  const left = `It has made ${made} keys that still work. Revoke them with: keys revoke ${keyId} --with-made`;
  const ofMade = [...(was.ended > 0 ? [withIt] : []), ...(made > 0 ? [left] : [])];
  if (was.revokedAt) {
    const before = `The key ${keyId} was revoked before, at ${moment(was.revokedAt)}.`;
    return [before, ...ofMade].join('\n');
  }
  return [
    `The key ${keyId} is revoked. It stops working within 30 seconds.`,
    ...ofMade,
    'Tasks that were created with it go on and are charged as they end.',
    `List them with: tasks list --account ${accountId}. End one with: tasks cancel TASK.`,
  ].join('\n');
}

export const keyCommands = [create, list, revoke];

function keyTable(keys: readonly KeyRow[]): string {
  return table(keys, [
    { title: 'KEY', of: ({ keyId }) => keyId },
    { title: 'ACCOUNT', of: ({ accountId }) => accountId },
    { title: 'NAME', of: ({ name }) => name },
    { title: 'ENDS IN', of: ({ lastFour }) => lastFour },
    { title: 'MODELS', of: ({ models }) => models?.join(',') ?? 'all' },
    { title: 'CHANNELS', of: ({ channels }) => channels?.join(',') ?? 'all' },
    { title: 'CREATES/S', of: ({ createRate }) => createRate },
    { title: 'READS/S', of: ({ readRate }) => readRate },
    { title: 'CREATED', of: ({ createdAt }) => createdAt },
    { title: 'EXPIRES', of: ({ expiresAt }) => expiresAt },
    { title: 'REVOKED', of: ({ revokedAt }) => revokedAt },
    { title: 'MANAGES KEYS', of: ({ managesKeys }) => (managesKeys ? 'yes' : '') },
    { title: 'MADE BY', of: ({ madeBy }) => madeBy },
  ]);
}

/**
 * Refuses a model or channel that is not in the catalogue. A key that is limited to such a model or
 * channel could create no task.
 */
export async function limitsOf(config: Config, input: Input): Promise<KeyLimits> {
  const models = wordsOf(input, 'models');
  const channels = wordsOf(input, 'channels');
  if (!models && !channels) return {};
  const catalogue = await catalogueIn(config);
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
