// From the parsed body to the plan this caller may have carried out, or the one refusal that names
// every fault. Shared by creating and by quoting, so that a quote is refused exactly where a create
// would be.

import { combineFaults, oneRefusal } from '../contract/faults';
import type { ParsedRequest } from '../contract/parse-request';
import type { Catalogue, Model } from '../domain/catalogue';
import { planTask } from '../domain/plan';
import type { Plan } from '../domain/plan-types';
import type { ApiDeps } from './app';
import type { Caller } from './context';
import { Refused } from './context';

/** Throws `Refused`: first all faults of the request together, then what this key may not. */
export function planForCaller(parsed: ParsedRequest, deps: ApiDeps, caller: Caller): Plan {
  return permitted(planOrRefuse(parsed, deps, caller), caller);
}

/** The models this key may use, over the channels it may use. */
export function usableModels(catalogue: Catalogue, { models, channels }: Caller): Model[] {
  return Object.values(catalogue.models).filter(
    (model) =>
      (models?.includes(model.id) ?? true) &&
      (!channels || model.channels.some(({ channel }) => channels.includes(channel))),
  );
}

function planOrRefuse(
  { request, faults: shapeFaults }: ParsedRequest,
  deps: ApiDeps,
  caller: Caller,
): Plan {
  const { settings } = deps;
  const catalogue = deps.catalogue();
  const { plan, refusals = [] } = planTask(request, catalogue, {
    // Any number the generator takes; drawn so that a lost job can be told by it.
    seed: Math.floor(Math.random() * 2 ** 31),
    allowHosts: settings.allowHosts,
    models: () => usableModels(catalogue, caller).map(({ id }) => id),
  });
  const faults = combineFaults(shapeFaults, refusals);
  if (plan && faults.length === 0) return plan;
  throw new Refused(oneRefusal(faults));
}

/**
 * The plan with the channels this key may use; a refusal when that leaves none, or the model is not
 * among its own.
 */
function permitted(plan: Plan, caller: Caller): Plan {
  const { models, channels } = caller;
  const refuse = (
    code: 'account_disabled' | 'model_not_allowed' | 'channel_not_allowed',
    message: string,
    param = '',
  ) => {
    throw new Refused({ code, param, message });
  };
  if (caller.accountDisabled) refuse('account_disabled', 'This account is disabled.');
  if (models && !models.includes(plan.entry)) {
    refuse('model_not_allowed', `This key may not use the model "${plan.entry}".`, 'model');
  }
  if (!channels) return plan;
  const own = plan.channels.filter(({ channel }) => channels.includes(channel));
  if (own.length === 0) {
    refuse('channel_not_allowed', 'This key may use no channel that serves this model.', 'model');
  }
  if (!plan.enhancement) return { ...plan, channels: own };
  const enhancers = plan.enhancement.channels.filter((channel) => channels.includes(channel));
  if (enhancers.length === 0) {
    const message = 'This key may use no channel that offers super-resolution.';
    refuse('channel_not_allowed', message, 'metadata.super_resolution_config');
  }
  return { ...plan, channels: own, enhancement: { ...plan.enhancement, channels: enhancers } };
}
