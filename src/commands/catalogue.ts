// The catalogue that the configuration names, with prices in the currency of the books.

import { loadCatalogue } from '../catalogue-file';
import type { Config } from '../config';
import type { Catalogue } from '../domain/catalogue';
import { CommandError } from './command';

/**
 * The amounts in the catalogue are in its currency; the books are in the one that is configured.
 */
export async function loadCatalogueOf(config: Config): Promise<Catalogue> {
  const { catalogueFile, environment, currency } = config;
  const catalogue = await loadCatalogue(catalogueFile, environment);
  if (catalogue.currency === currency) return catalogue;
  throw new CommandError(
    `CURRENCY is ${currency}, but the prices in ${catalogueFile} are in ${catalogue.currency}.`,
    2,
  );
}
