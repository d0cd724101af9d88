// The models that a caller can use.

import { type Catalogue, type Model, soldIn } from '../catalogue/catalogue.rules';
import { type Permissions, permissionFault, withOwnChannels } from './permissions.rules';

/**
 * The models that are sold now, that this key may use and that at least one permitted channel
 * serves, with these channels only.
 */
export function usableModels(catalogue: Catalogue, allowed: Permissions, now: number): Model[] {
  return soldIn(catalogue, now)
    .map((model) => withOwnChannels(model, allowed))
    .filter((model) => permissionFault(model, allowed) === null);
}
