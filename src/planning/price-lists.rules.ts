// The catalogue as a customer with its own price list sees it. Everything that reads a price reads it
// from there, so quotes, plans and the list of models agree.

import { ceilDivide, hundredths } from '../accounts/amount.rules';
import type { Catalogue, Model, PriceList } from '../catalogue/catalogue.rules';

// A catalogue is replaced as a whole, so its priced forms can be kept as long as it.
const kept = new WeakMap<Catalogue, Map<string, Catalogue>>();

/**
 * Returns null if the catalogue has no such list. The prices for everybody could then be above those
 * that the customer was promised.
 */
export function withPriceList(catalogue: Catalogue, name: string | null): Catalogue | null {
  if (name === null) return catalogue;
  const list = listOf(catalogue, name);
  if (!list) return null;
  const known = kept.get(catalogue) ?? new Map<string, Catalogue>();
  kept.set(catalogue, known);
  const priced = known.get(name) ?? priceBy(catalogue, name, list);
  known.set(name, priced);
  return priced;
}

export function listOf({ priceLists = {} }: Catalogue, name: string): PriceList | undefined {
  return Object.hasOwn(priceLists, name) ? priceLists[name] : undefined;
}

function priceBy(catalogue: Catalogue, name: string, list: PriceList): Catalogue {
  const { superResolution: offer } = catalogue;
  const models = Object.entries(catalogue.models).map(([id, model]) => [
    id,
    pricedModel(model, list),
  ]);
  return {
    ...catalogue,
    priceList: name,
    models: Object.fromEntries(models) as Catalogue['models'],
    superResolution: offer && {
      ...offer,
      microsPerMinute: list.microsPerMinute ?? times(offer.microsPerMinute, list.factor),
    },
  };
}

function pricedModel(model: Model, { factor, models }: PriceList): Model {
  const own = Object.hasOwn(models, model.id) ? models[model.id] : undefined;
  const prices =
    own ??
    model.prices.map((row) => ({
      ...row,
      microsPerMillionTokens: times(row.microsPerMillionTokens, factor),
    }));
  return { ...model, prices };
}

/** Rounded up, like each line of a bill. */
function times(micros: number, factor: number): number {
  return ceilDivide(BigInt(micros) * BigInt(hundredths(factor)), 100n);
}
