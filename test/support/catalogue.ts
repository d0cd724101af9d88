// The catalogues that the project ships: both as text, and the one of the studio also parsed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { protocols } from '../../activities/providers/protocols';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseCatalogue as parseWith } from '../../src/catalogue/file';

const file = (name: string) => readFileSync(join(__dirname, '../..', name), 'utf8');

export const catalogueText = file('catalogue.yaml');
export const arkCatalogueText = file('catalogue.ark.yaml');
export const exampleText = file('catalogue.example.yaml');

/**
 * The interval of channels in tests. Tests wait for rounds of the watcher, so it is short. But a round
 * costs three statements in each service of a run: 100 ms took a sixth of all processor time.
 */
export const pollIntervalMs = 300;

/** The catalogue of the studio with each price for tokens doubled. */
export const dearerText = catalogueText.replaceAll(
  /(perMillionTokens: ")(\d+)/g,
  (_, name: string, price: string) => `${name}${Number(price) * 2}`,
);

/** Parses a catalogue with the protocols of the service. */
export function parseCatalogue(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): Catalogue {
  return parseWith(text, { environment, protocols });
}

export function theCatalogue(): Catalogue {
  return parseCatalogue(catalogueText, {});
}
