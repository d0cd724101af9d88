// Makes the plan of a parsed request for this caller, or one refusal.
// Creates and quotes share this code, so both refuse the same faults. The create limit, the balance
// and the budgets are checked only by a create.

import { oneRefusal } from '../../contract/faults';
import type { ParsedRequest } from '../../contract/parse-request';
import { type KeyedState, Refused } from '../../gateway/context';
import type { KeyedDeps } from '../../gateway/deps';
import { allFaults } from '../../planning/all-faults.rules';
import { ownPrices } from '../../planning/own-prices.http';
import { planTask } from '../../planning/plan.rules';
import type { Plan } from '../../planning/plan-types.rules';
import { usableModels } from '../../planning/usable-models.rules';
import { findInputs } from './find-inputs';

/** A model or channel that the key may not use is reported only if the request has no fault. */
export async function planForCaller(
  { request, faults, lengthFrom }: ParsedRequest,
  deps: KeyedDeps,
  state: Pick<KeyedState, 'caller' | 'db'>,
): Promise<Plan | Refused> {
  const { caller } = state;
  const catalogue = ownPrices(deps.catalogue(), caller);
  const now = Date.now();
  const files = await findInputs(deps, state, request);
  const { plan, refusals = [] } = planTask(request, catalogue, {
    // A random seed, by which a lost job can be identified later. Every generator accepts seeds of
    // this range.
    seed: Math.floor(Math.random() * 2 ** 31),
    now,
    ...(lengthFrom ? { lengthFrom } : {}),
    allowHosts: deps.settings.dangerouslyAllowHosts,
    ...(files ? { files } : {}),
    permissions: caller,
    trustsLengths: caller.trustsLengths,
    models: () => usableModels(catalogue, caller, now).map(({ id }) => id),
  });
  if (plan && faults.length === 0) return plan;
  return new Refused(oneRefusal(allFaults(faults, refusals)));
}
