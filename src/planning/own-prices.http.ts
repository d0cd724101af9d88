// The catalogue with the prices of a caller.

import type { Caller } from '../accounts/accounts.rows';
import type { Catalogue } from '../catalogue/catalogue.rules';
import { Refused } from '../gateway/context';
import { withPriceList } from './price-lists.rules';

/**
 * Throws a refusal if the price list of the account is not in the catalogue. An operator has removed
 * it, and no other price was agreed.
 */
export function ownPrices(catalogue: Catalogue, { priceList }: Caller): Catalogue {
  const own = withPriceList(catalogue, priceList);
  if (own) return own;
  const message = `The price list of this account (${priceList}) is not in force at the moment. Nothing was stored. Try again later.`;
  throw new Refused({ code: 'unavailable', param: '', message }, { 'retry-after': '60' });
}
