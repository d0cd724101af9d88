// The command that says what a changed catalogue would change. It stores nothing and starts nothing.

import { readFile } from 'node:fs/promises';
import { listCustomersByPriceList } from '../../accounts/terms.rows';
import type { Catalogue } from '../../catalogue/catalogue.rules';
import type { CatalogueError } from '../../catalogue/file';
import {
  type CatalogueDiff,
  diffCatalogues,
  type Figures,
} from '../../planning/catalogue-diff.rules';
import { warningsOf } from '../../planning/catalogue-warnings';
import { CommandError } from '../command';
import { currencyFaults, parted } from './catalogue';
import { catalogueIn } from './channels';
import type { AdminCommand, AdminContext, Input } from './command-line';
import { amount, table } from './tables';

export const previewCatalogue: AdminCommand = {
  name: 'catalogue preview',
  http: {
    ...{ at: 'POST /catalogue/preview', role: 'operator' },
    ...{ requires: ['text'], without: ['FILE'], bodyBytesMax: 1_000_000 },
  },
  optional: 'FILE',
  options: { text: { value: 'YAML', about: 'the changed catalogue itself, instead of a FILE' } },
  about: 'what a changed catalogue would change for prices, costs and customers; stores nothing',
  async run({ config, db, now }, input) {
    const text = await textOf(input);
    const was = await catalogueIn(config);
    const is = readChanged(text, config);
    if (!('models' in is)) return { data: is, text: faultText(is.faults), exitCode: 1 };
    const diff = diffCatalogues(was, is, now());
    const customers = await listCustomersByPriceList(db());
    const data = {
      faults: [],
      warnings: warningsOf(is, now()).map(parted),
      ...shown(diff),
      dearer: diff.dearer.map(({ list, wasMicros, isMicros, ...rise }) => {
        const who = customers.find((one) => one.list === list);
        return {
          ...{ list, ...rise, was: amount(wasMicros), is: amount(isMicros) },
          ...{ customers: who?.customers ?? 0, names: list === null ? [] : (who?.names ?? []) },
        };
      }),
    };
    return { data, text: textOn(data) };
  },
};

async function textOf(input: Input): Promise<string> {
  const text = input.option('text');
  const file = input.operand('FILE');
  if (text !== undefined) return text;
  if (file === '') throw new CommandError('FILE or --text must be given.', 2, { param: 'text' });
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code}).`, 2);
  });
}

type Faults = { readonly faults: readonly { readonly path: string; readonly reason: string }[] };

function readChanged(text: string, config: AdminContext['config']): Catalogue | Faults {
  const { parseChanged } = require('../load-catalogue') as typeof import('../load-catalogue');
  try {
    const catalogue = parseChanged(text);
    const faults = currencyFaults(catalogue, config);
    return faults.length > 0 ? { faults: faults.map(parted) } : catalogue;
  } catch (error) {
    if ((error as Error).name !== 'CatalogueError') throw error;
    return { faults: (error as CatalogueError).faults.map(parted) };
  }
}

const faultText = (faults: Faults['faults']) =>
  [
    'The catalogue cannot be used:',
    ...faults.map(({ path, reason }) => `  ${path}: ${reason}`),
  ].join('\n');

function shown({ models, channelsGone, channelsNew, listsGone }: CatalogueDiff) {
  return {
    models: models.map(({ model, wasMicros, isMicros, channels }) => ({
      model,
      pricePerSecond: { was: micros(wasMicros), is: micros(isMicros) },
      channels: channels.map(({ was, is, ...place }) => ({
        ...place,
        was: figures(was),
        is: figures(is),
      })),
    })),
    ...{ channelsGone, channelsNew, listsGone },
  };
}

const micros = (value: number | null) => (value === null ? null : amount(value));

function figures(of: Figures | null) {
  if (!of) return null;
  const { chargedMicros: charged, costMicros: cost } = of;
  const margin = cost === null ? null : amount(charged - cost);
  return { charged: amount(charged), cost: micros(cost), margin };
}

interface Shown extends ReturnType<typeof shown> {
  readonly warnings: readonly { readonly path: string; readonly reason: string }[];
  readonly dearer: readonly {
    readonly list: string | null;
    readonly model: string;
    readonly video: string;
    readonly was: string;
    readonly is: string;
    readonly customers: number;
  }[];
}

function textOn({ models, channelsGone, channelsNew, listsGone, dearer, warnings }: Shown): string {
  const rows = models.flatMap(({ model, pricePerSecond, channels }) =>
    channels.map((channel) => ({ model, pricePerSecond, ...channel })),
  );
  const change = (was: string | null | undefined, is: string | null | undefined) =>
    was === is ? (is ?? null) : `${was ?? 'none'} → ${is ?? 'none'}`;
  const named = (title: string, names: readonly string[]) =>
    names.length > 0 ? [`${title}: ${names.join(', ')}`] : [];
  const lines = [
    ...named('Channels that disappear', channelsGone),
    ...named('Channels that appear', channelsNew),
    ...named('Price lists that disappear', listsGone),
    ...warnings.map(({ path, reason }) => `warning: ${path}: ${reason}`),
  ];
  const changed = table(rows, [
    { title: 'MODEL', of: ({ model }) => model },
    { title: 'A SECOND', of: ({ pricePerSecond: { was, is } }) => change(was, is) },
    { title: 'CHANNEL', of: ({ channel }) => channel },
    { title: 'CHARGED', of: ({ was, is }) => change(was?.charged, is?.charged) },
    { title: 'COST', of: ({ was, is }) => change(was?.cost, is?.cost) },
    { title: 'MARGIN', of: ({ was, is }) => change(was?.margin, is?.margin) },
  ]);
  const more = table(dearer, [
    { title: 'PAY MORE FOR', of: ({ model }) => model },
    { title: 'PRICE LIST', of: ({ list }) => list ?? 'everybody' },
    { title: 'CUSTOMERS', of: ({ customers }) => customers },
    { title: 'MOST FOR', of: ({ video }) => video },
    { title: 'WAS', of: ({ was }) => was },
    { title: 'IS', of: ({ is }) => is },
  ]);
  return [...lines, changed, more].join('\n\n');
}
