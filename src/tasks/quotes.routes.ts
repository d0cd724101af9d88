// POST /v1/videos/quotes: takes the body of a create and answers with the size, the length, the hold
// and, if the length of the reference videos is stated, what this length would cost. Nothing is stored.

import type { Caller } from '../accounts/accounts.rows';
import { formatMicros } from '../accounts/amount.rules';
import { assert } from '../assert';
import { type Catalogue, findModel } from '../catalogue/catalogue.rules';
import type { ParsedRequest } from '../contract/parse-request';
import type { KeyedCall, KeyedRouter, KeyedState } from '../gateway/context';
import { Refused } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { shownPlainVideo } from '../planning/models.routes';
import { outputSize } from '../planning/output-size.rules';
import { ownPrices } from '../planning/own-prices.http';
import { withOwnChannels } from '../planning/permissions.rules';
import type { Hold, Plan } from '../planning/plan-types.rules';
import { billing } from '../planning/pricing.rules';
import { planForCaller } from './create/plan-request.http';
import { readRequest } from './create/read-request.http';

export type Quote = (ctx: KeyedCall, parsed: ParsedRequest) => Promise<void>;

export function createQuote(deps: KeyedDeps): Quote {
  return async (ctx, parsed) => {
    // The catalogue may be replaced while the plan is made.
    const current = deps.catalogue();
    const asked = { ...deps, catalogue: () => current };
    const catalogue = ownPrices(current, ctx.state.caller);
    const plan = await planFor(parsed, asked, ctx.state);
    const { videos, metadata } = parsed.request;
    const isStated = videos.length > 0 && metadata.input_video_duration !== undefined;
    const trusted = { ...ctx.state, caller: { ...ctx.state.caller, trustsLengths: true } };
    const estimate = isStated ? (await planFor(parsed, asked, trusted)).hold : null;
    ctx.body = quoteOf(plan, estimate, plainPrice(catalogue, plan, ctx.state.caller));
  };
}

export function quoteRoutes(router: KeyedRouter, quote: Quote): void {
  router.post('/v1/videos/quotes', async (ctx) => quote(ctx, await readRequest(ctx)));
}

async function planFor(
  parsed: ParsedRequest,
  deps: KeyedDeps,
  state: Pick<KeyedState, 'caller' | 'db'>,
): Promise<Plan> {
  const plan = await planForCaller(parsed, deps, state);
  if (plan instanceof Refused) throw plan;
  return plan;
}

function plainPrice(catalogue: Catalogue, { entry }: Plan, caller: Caller) {
  const model = findModel(catalogue, entry);
  assert(model, 'a plan is of an entry of the catalogue');
  return shownPlainVideo(catalogue, withOwnChannels(model, caller));
}

/** `estimate` is the hold of the stated length of the reference videos, if one is stated. */
function quoteOf(plan: Plan, estimate: Hold | null, plainVideo: ReturnType<typeof plainPrice>) {
  const size = outputSize(plan);
  return {
    model: plan.model,
    input_type: plan.inputType,
    width: size?.width ?? null,
    height: size?.height ?? null,
    duration: plan.durationSeconds,
    tokens: plan.hold.tokens,
    currency: plan.price.currency,
    hold: formatMicros(plan.hold.amountMicros),
    ...(estimate ? { estimate: formatMicros(estimate.amountMicros) } : {}),
    items: billing(plan, { lines: plan.hold.lines, final: false }).items,
    plain_video: plainVideo,
  };
}
