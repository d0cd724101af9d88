// The thread of a preview: it compares the catalogue that somebody sent with the loaded one. YAML of a few
// kilobytes can take a processor for minutes, so the process that serves others does not read it itself.

import { parentPort, workerData } from 'node:worker_threads';
import type { Catalogue } from '../../catalogue/catalogue.rules';
import { CatalogueError } from '../../catalogue/file';
import { type CatalogueDiff, diffCatalogues } from '../../planning/catalogue-diff.rules';
import { warningsOf } from '../../planning/catalogue-warnings';
import { parseChanged } from '../load-catalogue';
import { currencyFaults } from './catalogue';

export interface Compared {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
  /** Null if there are faults. */
  readonly diff: CatalogueDiff | null;
  /** True if the loaded catalogue cannot be used, so that nothing is known of the time before. */
  readonly isFirst: boolean;
}

export interface Compares {
  readonly text: string;
  readonly loaded: string;
  readonly currency: string;
  readonly now: number;
}

const faultsMax = 200;
// More would keep the process busy that passes it on.
const answerCharactersMax = 4_000_000;

function compare({ text, loaded, currency, now }: Compares): Compared {
  const is = read(text, currency);
  const was = read(loaded, currency);
  const isFirst = !was.catalogue;
  if (!is.catalogue) {
    return { faults: is.faults.slice(0, faultsMax), warnings: [], diff: null, isFirst };
  }
  const before = was.catalogue ?? { ...is.catalogue, channels: {}, models: {}, priceLists: {} };
  const diff = diffCatalogues(before, is.catalogue, now);
  return { faults: [], warnings: warningsOf(is.catalogue, now), diff, isFirst };
}

interface Read {
  readonly catalogue: Catalogue | null;
  readonly faults: readonly string[];
}

function read(text: string, currency: string): Read {
  try {
    const catalogue = parseChanged(text);
    const faults = currencyFaults(catalogue, currency);
    return { catalogue: faults.length > 0 ? null : catalogue, faults };
  } catch (error) {
    if (error instanceof CatalogueError) return { catalogue: null, faults: error.faults };
    throw error;
  }
}

const answer = JSON.stringify(compare(workerData as Compares));
if (answer.length > answerCharactersMax) throw new RangeError('the answer is too long');
parentPort?.postMessage(answer);
