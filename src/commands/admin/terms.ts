// Admin commands that show and change the terms of customers and keys. Terms are limits of running
// and queued tasks, rates of calls, the days for which files and tasks are kept, and whether a hold
// counts the stated length of reference videos.

import { setManagesKeys } from '../../accounts/keys.rows';
import {
  type AccountTerms,
  type Changes,
  findTerms,
  type Rates,
  setKeyRates,
  setTerms,
} from '../../accounts/terms.rows';
import type { Config } from '../../config/config';
import { CommandError } from '../command';
import { catalogueIn } from './channels';
import type { AdminCommand, Input } from './command-line';
import { amountOrNull, fields } from './tables';
import { amountOf, changedValues, choiceOf, countOf, knownAccount, knownKey } from './values';

const terms: AdminCommand = {
  name: 'accounts terms',
  http: { at: 'POST /accounts/:ID/terms', role: 'operator' },
  operands: ['ID'],
  options: {
    'running-max': {
      value: 'N',
      about: 'its tasks with a generation job at once, or none for no limit',
    },
    'queued-max': { value: 'N', about: 'its unfinished tasks, or none for QUEUED_TASKS_MAX' },
    'create-rate': { value: 'N', about: 'creates a second of all its keys together, or none' },
    'read-rate': { value: 'N', about: 'reads of tasks a second of all its keys, or none' },
    'files-kept-days': { value: 'N', about: 'days for its new files, or none for FILES_KEPT_DAYS' },
    'tasks-kept-days': {
      value: 'N',
      about: 'days for its ended tasks, 0 for ever, or none for TASKS_KEPT_DAYS',
    },
    'trusts-lengths': {
      value: 'yes|no',
      about: 'holds the length that it states for its reference videos',
    },
    'price-list': { value: 'NAME', about: 'a price list of the catalogue, or none' },
    'alert-below': {
      value: 'AMOUNT',
      about: 'announces an available amount below this one to its webhook, or none',
    },
  },
  changes: (input) =>
    isEmpty({ ...changesOf(input), alertBelow: input.option('alert-below') })
      ? null
      : { kind: 'account', id: input.operand('ID') },
  about: 'shows the terms of a customer, or changes them',
  async run({ config, db }, input) {
    const { accountId } = await knownAccount(db(), input.operand('ID'));
    const before = await findTerms(db(), accountId);
    await refuseUnknownList(config, input);
    const alertBelowMicros = alertOf(input, config.currency);
    await setTerms(db(), accountId, { ...changesOf(input), alertBelowMicros });
    const now = await findTerms(db(), accountId);
    if (!before || !now) throw new CommandError(`There is no account ${accountId}.`);
    return {
      data: { accountId, ...withAmounts(now) },
      text: fields({ accountId, ...shownTerms(now, config) }),
      effect: changedValues(withAmounts(before), withAmounts(now)),
    };
  },
};

/** How often a key may call. */
export const rateOptions = {
  'create-rate': { value: 'N', about: 'creates a second, or none for CREATE_RATE_PER_SECOND' },
  'read-rate': { value: 'N', about: 'reads of tasks a second, or none for READ_RATE_PER_SECOND' },
} as const;

const keyTerms: AdminCommand = {
  name: 'keys terms',
  http: { at: 'POST /keys/:KEYID/terms', role: 'operator' },
  operands: ['KEYID'],
  options: {
    ...rateOptions,
    'manages-keys': { value: 'yes|no', about: 'may make and revoke keys of its account' },
  },
  changes: (input) =>
    isEmpty({ ...ratesOf(input), managesKeys: managesOf(input) })
      ? null
      : { kind: 'key', id: input.operand('KEYID') },
  about: 'shows what a key may do, or changes it within 30 seconds',
  async run({ config, db }, input) {
    const { keyId, ...before } = await knownKey(db(), input.operand('KEYID'));
    await setKeyRates(db(), keyId, ratesOf(input));
    const manages = managesOf(input);
    if (manages !== undefined) await setManagesKeys(db(), keyId, manages);
    const { createRate, readRate, managesKeys } = await knownKey(db(), keyId);
    return {
      effect: changedValues(before, { createRate, readRate, managesKeys }),
      data: { keyId, createRate, readRate, managesKeys },
      text: fields({
        keyId,
        createRate: createRate ?? bySetting(config.createRatePerSecond, 'CREATE_RATE_PER_SECOND'),
        readRate: readRate ?? bySetting(config.readRatePerSecond, 'READ_RATE_PER_SECOND'),
        managesKeys: managesKeys ? 'yes' : 'no',
      }),
    };
  },
};

const managesOf = (input: Input) => yesOrNo(input, 'manages-keys');

export const termCommands = [terms, keyTerms];

/** The terms with their amount in the form of all answers. */
export function withAmounts({ alertBelowMicros, ...others }: AccountTerms) {
  return { ...others, alertBelow: amountOrNull(alertBelowMicros) };
}

/** The terms as text. For an unset term the text names the value that applies instead. */
export function shownTerms(
  terms: AccountTerms,
  { queuedTasksMax, filesKeptDays, tasksKeptDays }: Config,
) {
  return {
    runningMax: terms.runningMax ?? 'no limit',
    queuedMax: terms.queuedMax ?? bySetting(queuedTasksMax, 'QUEUED_TASKS_MAX'),
    createRate: terms.createRate ?? 'those of its keys',
    readRate: terms.readRate ?? 'those of its keys',
    filesKeptDays: terms.filesKeptDays ?? bySetting(filesKeptDays, 'FILES_KEPT_DAYS'),
    tasksKeptDays: terms.tasksKeptDays ?? bySetting(tasksKeptDays, 'TASKS_KEPT_DAYS'),
    trustsLengths: terms.trustsLengths ? 'yes' : 'no',
    priceList: terms.priceList ?? 'none: the prices for everybody',
    alertBelow: withAmounts(terms).alertBelow ?? 'none: a low balance is not announced',
  };
}

const isEmpty = (changes: object) => Object.values(changes).every((value) => value === undefined);

const bySetting = (value: number, name: string) => `${value}, from the setting ${name}`;

const countMax = 10_000_000;
const daysMax = 36_500;

function changesOf(input: Input): Changes<AccountTerms> {
  return {
    runningMax: limitOf(input, 'running-max'),
    queuedMax: limitOf(input, 'queued-max'),
    filesKeptDays: limitOf(input, 'files-kept-days', daysMax),
    tasksKeptDays: taskDaysOf(input),
    trustsLengths: yesOrNo(input, 'trusts-lengths'),
    priceList: listNameOf(input),
    ...ratesOf(input),
  };
}

// The budget of a month is a sum of movements, so the movements of the current month must still
// exist.
const taskDaysMin = 35;

function taskDaysOf(input: Input): number | null | undefined {
  if (input.option('tasks-kept-days') === '0') return 0;
  const days = limitOf(input, 'tasks-kept-days', daysMax);
  if (days === null || days === undefined || days >= taskDaysMin) return days;
  throw new CommandError(
    `--tasks-kept-days is 0 or a whole number from ${taskDaysMin} to ${daysMax}, not "${days}".`,
    2,
  );
}

function yesOrNo(input: Input, name: string): boolean | undefined {
  const word = choiceOf(input, name, ['yes', 'no']);
  return word === undefined ? undefined : word === 'yes';
}

function listNameOf(input: Input): string | null | undefined {
  const name = input.option('price-list');
  return name === 'none' ? null : name;
}

async function refuseUnknownList(config: Config, input: Input): Promise<void> {
  const name = listNameOf(input);
  if (name === null || name === undefined) return;
  const { priceLists = {} } = await catalogueIn(config);
  if (Object.hasOwn(priceLists, name)) return;
  const known = Object.keys(priceLists).join(', ') || 'no price list';
  throw new CommandError(`${config.catalogueFile} has ${known}, and not "${name}".`, 2);
}

export function ratesOf(input: Input): Changes<Rates> {
  return { createRate: limitOf(input, 'create-rate'), readRate: limitOf(input, 'read-rate') };
}

/** Null for `none`; undefined leaves the term unchanged. */
function limitOf(input: Input, name: string, max = countMax): number | null | undefined {
  const text = input.option(name);
  if (text === undefined) return undefined;
  return text === 'none' ? null : countOf(input, name, 1, max);
}

function alertOf(input: Input, currency: string): number | null | undefined {
  const text = input.option('alert-below');
  if (text === undefined) return undefined;
  return text === 'none' ? null : amountOf(text, currency);
}
