// Loads the configured catalogue, and checks its currency and the keys of its channels.

import type { Knex } from 'knex';
import { protocols } from '../../activities/providers/protocols';
import { listPriceListsInUse } from '../accounts/terms.rows';

import type { Catalogue } from '../catalogue/catalogue.rules';
import { loadCatalogue, parseCatalogue } from '../catalogue/file';
import type { Config } from '../config/config';
import { CommandError } from './command';

/** Reads a catalogue whose channels may speak the protocols of this service. */
export function readCatalogue(
  path: string,
  environment: Config['environment'],
): Promise<Catalogue> {
  return loadCatalogue(path, { environment, protocols });
}

/** Reads a catalogue that somebody sent. Its text must not reach the secrets of the environment. */
export function parseChanged(text: string): Catalogue {
  return parseCatalogue(text, { environment: null, protocols });
}

/** Returns the catalogue. Throws if its prices are not in the currency of the setting CURRENCY. */
export async function loadCatalogueOf(config: Config): Promise<Catalogue> {
  const { catalogueFile, environment, currency } = config;
  const catalogue = await readCatalogue(catalogueFile, environment);
  if (catalogue.currency === currency) return catalogue;
  throw new CommandError(
    `CURRENCY is ${currency}, but the prices in ${catalogueFile} are in ${catalogue.currency}.`,
    2,
  );
}

/** A sentence if accounts have price lists that are not in the catalogue. */
export async function missingLists(db: Knex, catalogue: Catalogue): Promise<string | null> {
  const inUse = await listPriceListsInUse(db);
  const missing = inUse.filter((name) => !Object.hasOwn(catalogue.priceLists ?? {}, name));
  if (missing.length === 0) return null;
  return (
    `The catalogue has no price list ${missing.join(', ')}, which accounts have. Give them another ` +
    'one with `admin accounts terms ACCOUNT --price-list NAME`, or none.'
  );
}

/**
 * Throws if the key of a channel is not set or cannot be sent. Every task of such a channel would
 * fail.
 */
export function checkChannelKeys(
  { environment, catalogueFile }: Config,
  catalogue: Catalogue,
): void {
  const wrong = new Map<string, string[]>();
  for (const { id, apiKeyEnv } of Object.values(catalogue.channels)) {
    if (canBeSent(environment[apiKeyEnv])) continue;
    wrong.set(apiKeyEnv, [...(wrong.get(apiKeyEnv) ?? []), id]);
  }
  if (wrong.size === 0) return;
  const sentences = [...wrong].map(([name, ids]) => {
    const channels = `channel${ids.length > 1 ? 's' : ''} ${ids.join(', ')}`;
    const fault = environment[name]
      ? 'contains a line break or another character that no HTTP header can have'
      : 'is not set';
    return `${name} ${fault}. ${catalogueFile} names it as the key of the ${channels}.`;
  });
  throw new CommandError(sentences.join('\n'), 2);
}

/** A key is sent in a header, so it consists of printable ASCII. */
function canBeSent(key: string | undefined): boolean {
  return /^[ -~]+$/.test(key ?? '');
}
