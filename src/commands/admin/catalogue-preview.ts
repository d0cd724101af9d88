// The command that says what a changed catalogue would change. It stores nothing and starts nothing.

import { readFile } from 'node:fs/promises';
import { listCustomersByPriceList } from '../../accounts/terms.rows';
import type { CatalogueDiff, Figures } from '../../planning/catalogue-diff.rules';
import { CommandError } from '../command';
import { parted } from './catalogue';
import type { AdminCommand, Input } from './command-line';
import { compareCatalogues } from './compare-catalogues';
import { amount, amountOrNull, table } from './tables';

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
    // Without a file that can be used, everything is new: the preview is how it is mended.
    const loaded = await readFile(config.catalogueFile, 'utf8').catch(() => '');
    const { currency } = config;
    const { diff, isFirst, ...told } = await compareCatalogues({
      ...{ text, loaded, currency, now: now() },
    });
    const faults = told.faults.map(parted);
    if (!diff) return { data: { faults }, text: faultText(faults), exitCode: 1 };
    const customers = await listCustomersByPriceList(db());
    const data = {
      faults,
      warnings: told.warnings.map(parted),
      ...shown(diff),
      dearer: diff.dearer.map(({ list, wasMicros, isMicros, ...rise }) => {
        const who = customers.find((one) => one.list === list);
        return {
          ...{ list, ...rise, was: amount(wasMicros), is: amount(isMicros) },
          ...{ customers: who?.customers ?? 0, names: list === null ? [] : (who?.names ?? []) },
        };
      }),
    };
    const remark = isFirst
      ? { remark: 'The loaded catalogue cannot be used: all is shown as new.' }
      : {};
    return { data, text: textOn(data), ...remark };
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

const faultText = (faults: readonly ReturnType<typeof parted>[]) =>
  [
    'The catalogue cannot be used:',
    ...faults.map(({ path, reason }) => `  ${path}: ${reason}`),
  ].join('\n');

function shown({ models, channelsGone, channelsNew, listsGone }: CatalogueDiff) {
  return {
    models: models.map(({ model, wasMicros, isMicros, channels }) => ({
      model,
      pricePerSecond: { was: amountOrNull(wasMicros), is: amountOrNull(isMicros) },
      channels: channels.map(({ was, is, ...place }) => ({
        ...place,
        was: figures(was),
        is: figures(is),
      })),
    })),
    ...{ channelsGone, channelsNew, listsGone },
  };
}

function figures(of: Figures | null) {
  if (!of) return null;
  const { chargedMicros: charged, costMicros: cost } = of;
  const margin = cost === null ? null : amount(charged - cost);
  return { charged: amount(charged), cost: amountOrNull(cost), margin };
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
