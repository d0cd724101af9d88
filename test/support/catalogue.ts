// The catalogues that the project ships: both as text, and the one of the studio also parsed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCatalogue } from '../../src/catalogue/catalogue-file';
import type { Catalogue } from '../../src/domain/catalogue';

const file = (name: string) => readFileSync(join(__dirname, '../..', name), 'utf8');

export const catalogueText = file('catalogue.yaml');
export const arkCatalogueText = file('catalogue.ark.yaml');

export function theCatalogue(): Catalogue {
  return parseCatalogue(catalogueText, {});
}
