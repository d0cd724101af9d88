// The command that says what a create would be charged and would cost through each channel. It stores
// nothing: it makes the plan that a create would make.

import type { Knex } from 'knex';
import { findTerms } from '../../accounts/terms.rows';
import type { Catalogue } from '../../catalogue/catalogue.rules';
import type { VideoRequest } from '../../contract/request';
import { tokenOfLink } from '../../files/file-link.rules';
import { findStoredFiles } from '../../files/links.rows';
import { routesOfCreate, waitAt } from '../../planning/create-routes.rules';
import type { InputFile, InputFiles } from '../../planning/input-files.rules';
import { withPriceList } from '../../planning/price-lists.rules';
import { readChannels } from '../../tasks/life.rows';
import { CommandError } from '../command';
import { catalogueIn, statesOf } from './channels';
import type { AdminCommand, AdminContext, Input } from './command-line';
import { amount, amountOrNull, fields, table } from './tables';
import { accountIdOf, knownKey } from './values';

export const routesOf: AdminCommand = {
  name: 'routes',
  http: { at: 'POST /routes', role: 'operator' },
  options: {
    body: { value: 'JSON', about: 'the body of a create', required: true },
    account: { value: 'ID', about: 'with the prices of this customer' },
    key: { value: 'KEYID', about: 'with the prices and the permissions of this key' },
  },
  about: 'what a create would be charged and would cost through each channel; stores nothing',
  async run(context, input) {
    const { config, db, now } = context;
    const parsed = requestOf(input);
    const caller = await callerOf(db(), input);
    const catalogue = pricesOf(await catalogueIn(config), caller.priceList);
    const files = await filesOf(context, caller.accountId, parsed.request);
    const { plan, routes, refusals } = routesOfCreate(parsed.request, catalogue, {
      ...{ seed: 0, now: now(), allowHosts: config.dangerouslyAllowHosts, files },
      ...(parsed.lengthFrom ? { lengthFrom: parsed.lengthFrom } : {}),
      permissions: caller,
      trustsLengths: caller.trustsLengths,
    });
    if (!plan || parsed.faults.length > 0) {
      const { allFaults } =
        require('../../planning/all-faults.rules') as typeof import('../../planning/all-faults.rules');
      const shown = allFaults(parsed.faults, refusals);
      const text = shown.map(({ code, message }) => `${code}: ${message}`).join('\n');
      return { data: { hold: null, routes: [], refusals: shown }, text, exitCode: 1 };
    }
    const stateOf = await channelsNow(
      db(),
      catalogue,
      routes.map(({ channel }) => channel),
    );
    const shown = routes.map(({ chargedMicros, costMicros, ...route }) => ({
      ...{ ...route, ...stateOf(route.channel) },
      charged: amountOrNull(chargedMicros),
      cost: amountOrNull(costMicros),
      margin:
        chargedMicros === null || costMicros === null ? null : amount(chargedMicros - costMicros),
    }));
    const hold = amount(plan.hold.amountMicros);
    const head = { model: plan.model, entry: plan.entry, hold, currency: plan.price.currency };
    const text = table(shown, [
      { title: 'CHANNEL', of: ({ channel }) => channel },
      { title: 'MODEL', of: ({ upstreamModel }) => upstreamModel },
      { title: 'REFUSED', of: ({ refused }) => refused },
      { title: 'CHARGED', of: ({ charged }) => charged },
      { title: 'COST', of: ({ cost }) => cost },
      { title: 'MARGIN', of: ({ margin }) => margin },
      { title: 'SLOTS', of: ({ slotsUsed }) => slotsUsed },
      { title: 'MAX', of: ({ slotsMax }) => slotsMax },
      { title: 'HEALTH', of: ({ health }) => health },
      { title: 'WAITS', of: ({ waits }) => waits },
    ]);
    return {
      data: { ...head, routes: shown, refusals: [] },
      text: `${fields(head)}\n\n${text}`,
    };
  },
};

// The parsers are loaded here, because the help of all commands does without them.
function requestOf(input: Input) {
  const { parseSafeJson } =
    require('../../contract/safe-json') as typeof import('../../contract/safe-json');
  const { parseRequest } =
    require('../../contract/parse-request') as typeof import('../../contract/parse-request');
  const { value, fault } = parseSafeJson(input.option('body') ?? '');
  if (value) return parseRequest(value);
  throw new CommandError(`--body is no JSON object: ${fault}.`, 2, { param: 'body' });
}

/** Without an account, the prices for everybody and all channels. */
async function callerOf(db: Knex, input: Input) {
  const everything = { models: null, channels: null };
  const keyId = input.option('key');
  const key = keyId === undefined ? null : await knownKey(db, keyId);
  const accountId = key?.accountId ?? (await accountIdOf(db, input)) ?? null;
  const terms = accountId === null ? null : await findTerms(db, accountId);
  const { priceList, trustsLengths } = terms ?? { priceList: null, trustsLengths: false };
  const { models, channels } = key ?? everything;
  return { accountId, models, channels, priceList, trustsLengths };
}

function pricesOf(catalogue: Catalogue, list: string | null): Catalogue {
  const own = withPriceList(catalogue, list);
  if (own) return own;
  throw new CommandError(`The catalogue has no price list ${list}, which the customer has.`);
}

/** The files of the customer that the request names. */
async function filesOf(
  { config, db }: AdminContext,
  accountId: string | null,
  { images, videos, audios }: VideoRequest,
): Promise<InputFiles> {
  const tokenOf = (sent: string) => tokenOfLink(config.publicUrl, sent);
  const named = [...images, ...videos, ...audios].filter(
    (sent) => sent.startsWith('file_') || tokenOf(sent) !== null,
  );
  if (named.length === 0 || accountId === null) return new Map(named.map((sent) => [sent, null]));
  const tokens = named.flatMap((sent) => tokenOf(sent) ?? []);
  const rows = await findStoredFiles(db(), accountId, { ids: named, tokens });
  return new Map(
    named.map((sent): [string, InputFile | null] => {
      const row = rows.find(({ id, linkToken }) => id === sent || linkToken === tokenOf(sent));
      if (!row) return [sent, null];
      const { id, media, length } = row;
      return [sent, { id, media, bytes: length ?? 0, sentAs: 'address' }];
    }),
  );
}

async function channelsNow(
  db: ReturnType<AdminContext['db']>,
  { channels }: Catalogue,
  names: readonly string[],
) {
  const data = await statesOf(channels, db);
  const stored = await readChannels(db, names);
  return (name: string) => {
    const shown = data.find(({ channel }) => channel === name);
    const facts = stored.find(({ channel }) => channel === name);
    const slotsUsed = facts?.slotsUsed ?? 0;
    const slotsMax = shown?.jobsMax ?? null;
    const waits = waitAt({
      ...{ slotsUsed, slotsMax, waitingJobs: facts?.waitingJobs ?? 0 },
      ...{ isPaused: facts?.pausedAt != null, restsUntil: facts?.restsUntil ?? null },
    });

    return { slotsUsed, slotsMax, health: shown?.health ?? null, waits };
  };
}
