// POST /v1/videos/quotes: the same body as a create, answered with the plan and what would be held.
// Nothing is stored.

import { parseRequest } from '../contract/parse-request';
import { formatMicros } from '../domain/money';
import type { Plan } from '../domain/plan-types';
import { billing } from '../domain/pricing';
import type { ApiDeps } from './app';
import { bodyBytesMax, readJsonBody } from './body';
import type { ApiRouter } from './context';
import { refuse } from './context';
import { planForCaller } from './plan-request';

export function quoteRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.post('/v1/videos/quotes', async (ctx) => {
    const parsed = parseRequest(await readJsonBody(ctx.req, bodyBytesMax));
    const { plan, refusal } = planForCaller(parsed, deps, ctx.state.caller);
    if (plan) ctx.body = quoteOf(plan);
    else refuse(ctx, refusal);
  });
}

function quoteOf(plan: Plan) {
  return {
    model: plan.model,
    input_type: plan.inputType,
    width: plan.width,
    height: plan.height,
    duration: plan.durationSeconds,
    tokens: plan.hold.tokens,
    currency: plan.price.currency,
    hold: formatMicros(plan.hold.amountMicros),
    items: billing(plan, { lines: plan.hold.lines, final: false }).items,
  };
}
