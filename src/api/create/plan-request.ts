// Makes the plan of a parsed request for this caller, or one refusal.
// Creates and quotes share this code, so both refuse the same faults. The create limit, the balance
// and the budgets are checked only by a create.

import type { RefusalCode } from '../../contract/error';
import { oneRefusal, reportedFaults } from '../../contract/faults';
import type { ParsedRequest } from '../../contract/parse-request';
import type { Caller } from '../../db/accounts';
import type { Catalogue, Model } from '../../domain/catalogue';
import { hasRetired, mayUseChannel } from '../../domain/catalogue';
import { planTask } from '../../domain/plan';
import type { Plan } from '../../domain/plan-types';
import { Refused } from '../context';
import type { ApiDeps } from '../deps';
import { findInputs } from './find-inputs';

/**
 * All faults of the request's shape are reported first. Without such faults, all faults of the plan
 * are reported. A model or channel that the key may not use is reported last.
 */
export async function planForCaller(
  { request, faults, lengthFrom }: ParsedRequest,
  deps: ApiDeps,
  caller: Caller,
): Promise<Plan | Refused> {
  if (faults.length > 0) return new Refused(oneRefusal(reportedFaults(faults)));
  const catalogue = deps.catalogue();
  const files = await findInputs(deps, caller.accountId, request);
  const { plan, refusals } = planTask(request, catalogue, {
    // A random seed, by which a lost job can be identified later. Every generator accepts seeds of
    // this range.
    seed: Math.floor(Math.random() * 2 ** 31),
    now: Date.now(),
    ...(lengthFrom ? { lengthFrom } : {}),
    allowHosts: deps.settings.dangerouslyAllowHosts,
    ...(files ? { files } : {}),
    models: () => usableModels(catalogue, caller).map(({ id }) => id),
  });
  return plan ? permitted(plan, caller) : new Refused(oneRefusal(reportedFaults(refusals)));
}

/** The models that are sold now, that this key may use and that at least one permitted channel serves. */
export function usableModels(catalogue: Catalogue, { models, channels }: Caller): Model[] {
  const now = Date.now();
  return Object.values(catalogue.models).filter(
    (model) =>
      !hasRetired(model, now) &&
      (models?.includes(model.id) ?? true) &&
      model.channels.some(({ channel }) => mayUseChannel(channels, channel)),
  );
}

/**
 * Returns the plan with only the permitted channels. Refuses the plan if its model is not permitted
 * or no channel is left.
 */
function permitted(plan: Plan, caller: Caller): Plan | Refused {
  const { models, channels } = caller;
  if (models && !models.includes(plan.entry)) {
    const message = `This key may not use the model "${plan.entry}".`;
    return refusing('model_not_allowed', message, 'model');
  }
  if (!channels) return plan;
  const own = plan.channels.filter(({ channel }) => mayUseChannel(channels, channel));
  if (own.length === 0) {
    const message = 'This key may use no channel that serves this model.';
    return refusing('channel_not_allowed', message, 'model');
  }
  if (!plan.enhancement) return { ...plan, channels: own };
  const enhancers = plan.enhancement.channels.filter((channel) => mayUseChannel(channels, channel));
  if (enhancers.length === 0) {
    const message = 'This key may use no channel that offers super-resolution.';
    return refusing('channel_not_allowed', message, 'metadata.super_resolution_config');
  }
  const enhancement = { ...plan.enhancement, channels: enhancers };
  return { ...plan, channels: own, enhancement };
}

function refusing(code: RefusalCode, message: string, param: string): Refused {
  return new Refused({ code, param, message });
}
