// POST /v1/videos/quotes: takes the body of a create and answers with the size, the length and the
// hold. Nothing is stored.

import type { ParsedRequest } from '../../contract/parse-request';
import { assert } from '../../domain/assert';
import { type Catalogue, findModel } from '../../domain/catalogue';
import { formatMicros } from '../../domain/money';
import { outputSize } from '../../domain/output-size';
import type { Plan } from '../../domain/plan-types';
import { billing } from '../../domain/pricing';
import type { KeyedCall, KeyedRouter } from '../context';
import { Refused } from '../context';
import { planForCaller } from '../create/plan-request';
import { readRequest } from '../create/read-request';
import type { ApiDeps } from '../deps';
import { shownPlainVideo } from './models';

export type Quote = (ctx: KeyedCall, parsed: ParsedRequest) => Promise<void>;

export function createQuote(deps: ApiDeps): Quote {
  return async (ctx, parsed) => {
    // The catalogue may be replaced while the plan is made.
    const catalogue = deps.catalogue();
    const asked = { ...deps, catalogue: () => catalogue };
    const plan = await planForCaller(parsed, asked, ctx.state.caller);
    if (plan instanceof Refused) throw plan;
    ctx.body = quoteOf(plan, catalogue);
  };
}

export function quoteRoutes(router: KeyedRouter, quote: Quote): void {
  router.post('/v1/videos/quotes', async (ctx) => quote(ctx, await readRequest(ctx)));
}

function quoteOf(plan: Plan, catalogue: Catalogue) {
  const model = findModel(catalogue, plan.entry);
  assert(model, 'a plan is of an entry of the catalogue');
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
    items: billing(plan, { lines: plan.hold.lines, final: false }).items,
    plain_video: shownPlainVideo(catalogue, model),
  };
}
