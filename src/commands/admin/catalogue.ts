// The admin commands that check a catalogue, and show the loaded one. They start nothing.

import { type Catalogue, type Model, soldIn } from '../../catalogue/catalogue.rules';
import type { CatalogueError } from '../../catalogue/file';
import { includes } from '../../operators/roles.rules';
import { warningsOf } from '../../planning/catalogue-warnings';
import { type ChannelMargin, plainMargins } from '../../planning/margins.rules';
import { plainVideo } from '../../planning/plain-video.rules';
import { withPriceList } from '../../planning/price-lists.rules';
import type { AdminCommand, AdminContext, Answer } from './command-line';
import { amount, amountOrNull, percentOf, table } from './tables';

const check: AdminCommand = {
  name: 'catalogue check',
  http: { none: 'it reads a file of this machine' },
  optional: 'FILE',
  about: 'what is wrong in a catalogue, what it sells and at what margin; starts nothing',
  isOffline: true,
  run: (context, input) => checked(context, input.operand('FILE') || context.config.catalogueFile),
};

async function checked({ config, now }: AdminContext, file: string): Promise<Answer> {
  const { readCatalogue } = require('../load-catalogue') as typeof import('../load-catalogue');
  try {
    const catalogue = await readCatalogue(file, config.environment);
    return answerOn(file, catalogue, now(), currencyFaults(catalogue, config.currency));
  } catch (error) {
    if ((error as Error).name !== 'CatalogueError') throw error;
    return faulty(file, (error as CatalogueError).faults);
  }
}

export function currencyFaults({ currency }: Catalogue, books: string): readonly string[] {
  if (currency === books) return [];
  return [`currency: the books are in ${books} (CURRENCY), the prices in ${currency}`];
}

/** The catalogue that the process has. Costs are for operators. */
const show: AdminCommand = {
  name: 'catalogue show',
  http: { at: 'GET /catalogue', role: 'viewer' },
  about: 'what the configured catalogue sells, and at what margin',
  async run(context) {
    const answer = await checked(context, context.config.catalogueFile);
    if (includes(context.role, 'operator')) return answer;
    const { file, models, priceLists, faults } = answer.data as ShownCatalogue;
    const reason = `The catalogue cannot be used. Its faults, which operators see: ${faults.length}.`;
    const told = faults.length > 0 ? [{ path: '', reason }] : [];
    return {
      ...answer,
      data: { file, faults: told, warnings: [], models: models.map(withoutCosts), priceLists },
    };
  },
};

export const catalogueCommands = [check, show];

interface ShownCatalogue {
  readonly file: string;
  readonly faults: readonly unknown[];
  readonly models: readonly ShownModel[];
  readonly priceLists: readonly ShownPriceList[];
}

type ShownModel = ReturnType<typeof shown>;

interface ShownPriceList {
  readonly name: string;
  readonly models: readonly ReturnType<typeof plainOf>[];
}

function withoutCosts({ channels, ...model }: ShownModel) {
  const rest = channels.map(
    ({ cost: _cost, margin: _margin, percent: _percent, ...channel }) => channel,
  );
  return { ...model, channels: rest };
}

function faulty(file: string, sentences: readonly string[]): Answer {
  const faults = sentences.map(parted);
  const lines = sentences.map((sentence) => `  ${sentence}`);
  const text = [`${file} cannot be used:`, ...lines].join('\n');
  return { data: { file, faults, warnings: [], models: [], priceLists: [] }, text, exitCode: 1 };
}

function answerOn(
  file: string,
  catalogue: Catalogue,
  now: number,
  faults: readonly string[],
): Answer {
  if (faults.length > 0) return faulty(file, faults);
  const models = soldIn(catalogue, now).map((model) => shown(catalogue, model));
  const warnings = warningsOf(catalogue, now);
  const priceLists = Object.keys(catalogue.priceLists ?? {}).flatMap((name) => {
    const priced = withPriceList(catalogue, name);
    return priced ? { name, models: soldIn(priced, now).map((one) => plainOf(priced, one)) } : [];
  });
  const data = { file, faults: [], warnings: warnings.map(parted), models, priceLists };
  const rows = models.flatMap(({ channels, ...model }) =>
    channels.map((channel) => ({ ...model, ...channel })),
  );
  const text = table(rows, [
    { title: 'MODEL', of: ({ model }) => model },
    { title: 'PLAIN VIDEO', of: (row) => `${row.duration} s ${row.resolution} ${row.ratio}` },
    { title: 'PRICE', of: ({ price }) => price },
    { title: 'A SECOND', of: ({ pricePerSecond }) => pricePerSecond },
    { title: 'CHANNEL', of: ({ channel }) => channel },
    { title: 'PROTOCOL', of: ({ protocol }) => protocol },
    { title: 'CHARGED', of: ({ charged }) => charged },
    { title: 'COST', of: ({ cost }) => cost },
    { title: 'MARGIN', of: ({ margin }) => margin },
    { title: '%', of: ({ percent }) => percent },
  ]);
  const head = `${file}: ${models.length} models are sold, in ${catalogue.currency}.`;
  const told = warnings.map((sentence) => `  warning: ${sentence}`);
  const lists = priceLists.length > 0 ? ['', listTable(priceLists)] : [];
  return { data, text: [head, ...told, '', text, ...lists].join('\n') };
}

function listTable(lists: readonly ShownPriceList[]): string {
  const rows = lists.flatMap(({ name, models }) => models.map((model) => ({ name, ...model })));
  return table(rows, [
    { title: 'PRICE LIST', of: ({ name }) => name },
    { title: 'MODEL', of: ({ model }) => model },
    { title: 'PRICE', of: ({ price }) => price },
    { title: 'A SECOND', of: ({ pricePerSecond }) => pricePerSecond },
  ]);
}

function plainOf(catalogue: Catalogue, model: Model) {
  const { resolution, ratio, seconds, ...price } = plainVideo(catalogue, model);
  return {
    model: model.id,
    ...{ resolution, ratio, duration: seconds },
    price: amount(price.priceMicros),
    pricePerSecond: amount(price.microsPerSecond),
  };
}

function shown(catalogue: Catalogue, model: Model) {
  return {
    ...plainOf(catalogue, model),
    ...(model.retires === null ? {} : { retires: model.retires }),
    channels: plainMargins(catalogue, model).map((margin) => shownMargin(catalogue, margin)),
  };
}

function shownMargin({ channels }: Catalogue, margin: ChannelMargin) {
  const { channel, upstreamModel, chargedMicros: charged, costMicros: cost } = margin;
  return {
    ...{ channel, upstreamModel, protocol: channels[channel]?.protocol ?? null },
    charged: amount(charged),
    cost: amountOrNull(cost),
    margin: cost === null ? null : amount(charged - cost),
    percent: cost === null ? null : percentOf(charged, cost),
  };
}

/** Parts a sentence on the catalogue into the path and the reason. Faults of YAML have no path. */
export function parted(sentence: string) {
  const [, path = '', reason = sentence] =
    /^((?:[^\s"]|"[^"]*")+): (.*)$/s.exec(sentence.replace('(the whole file): ', '')) ?? [];
  return { path, reason };
}
