// Draws random requests and prices, and makes plans of them with the real planner.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseRequest } from '../../src/contract/parse-request';
import { contractResolutions, enhancedResolutions } from '../../src/contract/vocabulary';
import { planTask } from '../../src/planning/plan.rules';
import type { Plan } from '../../src/planning/plan-types.rules';
import { theCatalogue } from './catalogue';
import {
  heldMilliseconds,
  heldTokens,
  lengthMicros,
  pricePerMillion,
  pricePerMinute,
  tokenMicros,
} from './money-formula';

type Random = () => number;

export const between = (random: Random, low: number, high: number) =>
  low + Math.floor(random() * (high - low + 1));
export const pick = <T>(random: Random, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)] as T;

const catalogue = theCatalogue();

/** Draws requests until one is valid. Checks the hold of its plan with ./money-formula. */
export function drawPlan(random: Random, enhanced: boolean): Plan {
  for (;;) {
    const priced = withDrawnPrices(random);
    const hasVideo = random() < 0.3;
    const milliseconds = hasVideo && random() < 0.7 ? between(random, 100, 30_000) : null;
    const { request } = parseRequest(drawBody(random, { enhanced, hasVideo, milliseconds }));
    const plan = request && planTask(request, priced, { seed: 1 }).plan;
    if (!plan) continue;
    const tokens = heldTokens(priced, plan, { hasVideo, statedMs: milliseconds ?? 0 });
    const perMillion = pricePerMillion(priced, plan, hasVideo);
    const perMinute = pricePerMinute(priced, plan);
    const lines = [
      tokenMicros(tokens, perMillion),
      ...(perMinute === null ? [] : [lengthMicros(heldMilliseconds(plan), perMinute)]),
    ];
    expect(plan.hold.lines.map(({ amountMicros }) => amountMicros)).toEqual(lines);
    expect(plan.hold.amountMicros).toBe(lines.reduce((sum, amount) => sum + amount, 0));
    expect(plan.hold.tokens).toBe(tokens);
    return plan;
  }
}

/** Prices with many decimals, so that rounding matters. */
function withDrawnPrices(random: Random): Catalogue {
  const { models, superResolution } = catalogue;
  const drawn = Object.entries(models).map(([id, model]) => {
    const prices = model.prices.map((row) => ({
      ...row,
      microsPerMillionTokens: between(random, 1_000_000, 99_999_999),
    }));
    return [id, { ...model, prices }] as const;
  });
  const offer = superResolution && {
    ...superResolution,
    microsPerMinute: between(random, 100_000, 2_999_999),
  };
  return { ...catalogue, models: Object.fromEntries(drawn), superResolution: offer };
}

interface Drawn {
  readonly enhanced: boolean;
  readonly hasVideo: boolean;
  readonly milliseconds: number | null;
}

function drawBody(random: Random, { enhanced, hasVideo, milliseconds }: Drawn) {
  const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'];
  const target = random() < 0.7 ? 'resolution' : 'resolution_limit';
  return {
    model: pick(random, Object.keys(catalogue.models)),
    prompt: 'a lighthouse at dusk',
    resolution: pick(random, contractResolutions),
    ratio: pick(random, ratios),
    duration: random() < 0.15 ? -1 : between(random, 4, 15),
    ...(hasVideo ? { videos: ['https://media.example.com/1.mp4'] } : {}),
    metadata: {
      generate_audio: random() < 0.5,
      draft: random() < 0.2,
      ...(milliseconds === null ? {} : { input_video_duration: milliseconds / 1_000 }),
      ...(enhanced
        ? {
            super_resolution_config: {
              [target]:
                target === 'resolution'
                  ? pick(random, enhancedResolutions)
                  : between(random, 64, 2_160),
              tool_version: pick(random, ['standard', 'professional']),
              ...(random() < 0.5 ? { fps: between(random, 24, 120) } : {}),
            },
          }
        : {}),
    },
  };
}
