// What a create would be charged and would cost at each channel, before anything is made. The order and
// the hold are those of the plan that a create makes.

import { type Catalogue, type ChannelChoice, channelName } from '../catalogue/catalogue.rules';
import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import { jobCostMicros } from './cost.rules';
import { type PlanGiven, planTask } from './plan.rules';
import type { Plan, PlannedChoice } from './plan-types.rules';

export interface CreateRoute {
  readonly channel: string;
  readonly upstreamModel: string;
  /** Why the create cannot go there; null if it can. */
  readonly refused: string | null;
  /** The charge if the video is as long, and takes as many tokens, as is held for this channel. */
  readonly chargedMicros: number | null;
  /** Null if the catalogue does not say it, or if it depends on what only the provider knows. */
  readonly costMicros: number | null;
}

export type CreateRoutes =
  | { readonly plan: Plan; readonly routes: readonly CreateRoute[]; readonly refusals: readonly [] }
  | { readonly plan: null; readonly routes: readonly []; readonly refusals: readonly Refusal[] };

export function routesOfCreate(
  request: VideoRequest,
  catalogue: Catalogue,
  given: PlanGiven,
): CreateRoutes {
  const { plan, refusals } = planTask(request, catalogue, given);
  if (!plan) return { plan: null, routes: [], refusals };
  const all = catalogue.models[plan.entry]?.channels ?? [];
  const through = (choice: PlannedChoice) => {
    const own = all.find((one) => isSame(one, choice));
    const alone = own && planTask(request, withOnly(catalogue, plan.entry, own), given).plan;
    return routeOf(choice, alone ?? plan, request);
  };
  const others = all.filter((one) => !plan.channels.some((choice) => isSame(one, choice)));
  const closed = others.map(({ channel, upstreamModel }) => ({
    ...{ channel, upstreamModel, chargedMicros: null, costMicros: null },
    refused: 'The key may not use this channel.',
  }));
  return { plan, routes: [...plan.channels.map(through), ...closed], refusals: [] };
}

type Place = Pick<ChannelChoice, 'channel' | 'upstreamModel'>;

const isSame = (one: Place, other: Place) =>
  one.channel === other.channel && one.upstreamModel === other.upstreamModel;

function withOnly(catalogue: Catalogue, entry: string, choice: ChannelChoice): Catalogue {
  const model = catalogue.models[entry];
  if (!model) return catalogue;
  const { weight: _weight, ...only } = choice;
  return {
    ...catalogue,
    models: { ...catalogue.models, [entry]: { ...model, channels: [only] } },
  };
}

function routeOf(choice: PlannedChoice, alone: Plan, request: VideoRequest): CreateRoute {
  const { channel, upstreamModel } = choice;
  return {
    ...{ channel, upstreamModel, refused: null },
    chargedMicros: alone.hold.amountMicros,
    costMicros: costOf(choice, alone, request),
  };
}

/** The tokens of a meter are ours. Those that the provider would bill are not known before. */
function costOf({ cost, meter }: PlannedChoice, plan: Plan, request: VideoRequest): number | null {
  const { durationSeconds, enhancement, hold } = plan;
  const seconds = durationSeconds === -1 ? null : durationSeconds;
  const countsInput = cost !== undefined && 'inputSeconds' in cost && cost.inputSeconds;
  if (!cost || (countsInput && request.videos.length > 0)) return null;
  const completionTokens = meter ? null : hold.tokens;
  const facts = { completionTokens, durationSeconds: seconds, inputSeconds: null };
  const generation = jobCostMicros(cost, facts);
  if (!enhancement) return generation;
  const [first = ''] = enhancement.channels;
  const own = enhancement.costs?.[channelName(first)] ?? enhancement.costs?.[first];
  const enhanced = own ? jobCostMicros(own, facts) : null;
  return generation === null || enhanced === null ? null : generation + enhanced;
}

/** What is known of a channel now. */
export interface ChannelNow {
  readonly isPaused: boolean;
  readonly restsUntil: Date | null;
  readonly slotsUsed: number;
  readonly slotsMax: number | null;
  readonly waitingJobs: number;
}

/** Why a create would wait for the channel now; null if it would not. */
export function waitAt(now: ChannelNow): string | null {
  const { isPaused, restsUntil, slotsUsed, slotsMax, waitingJobs } = now;
  if (isPaused) return 'It is paused.';
  if (restsUntil) return `It rests until ${restsUntil.toISOString().slice(11, 19)} UTC.`;
  if (slotsMax !== null && slotsUsed >= slotsMax) {
    return `${slotsUsed} of ${slotsMax} slots are used.`;
  }
  return waitingJobs > 0 ? `Jobs wait for it already: ${waitingJobs}.` : null;
}
