// Draws random requests of hostile callers: lengths that are stated too short, uploads beside other
// videos, sizes that only the generator knows. The studio counts the tokens, as the real provider
// does. The enhancer reports each length that a video of whole frames can have. No charge may be
// above its hold.

import { parseRequest } from '../../src/contract/parse-request';
import { contractResolutions, enhancedResolutions } from '../../src/contract/vocabulary';
import type { InputFile } from '../../src/planning/input-files.rules';
import { planTask } from '../../src/planning/plan.rules';
import type { Plan } from '../../src/planning/plan-types.rules';
import { settlementFor, total } from '../../src/planning/pricing.rules';
import { adaptiveSize, findModel, type Ratio } from '../../studio/jobs/models';
import { countTokens } from '../../studio/protocol/ark/count-tokens';
import { randomFrom } from '../support/books';
import { theCatalogue } from '../support/catalogue';
import { between, pick } from '../support/drawn-plans';

const catalogue = theCatalogue();
const requests = 2_000;

/** Reference videos of at most 15.1 s together, which is the most that the studio takes. */
function drawVideos(random: () => number) {
  const files = new Map<string, InputFile>();
  const videos: string[] = [];
  let left = 15_100;
  let realMs = 0;
  for (let at = between(random, 1, 3); at > 0 && left > 2_000; at -= 1) {
    const ms = random() < 0.4 ? left : between(random, 2_000, left);
    left -= ms;
    realMs += ms;
    const isOwn = random() < 0.6;
    const sent = isOwn ? `file_${at}` : `https://media.example.com/${at}.mp4`;
    videos.push(sent);
    if (!isOwn) continue;
    files.set(sent, { id: sent, media: 'video', bytes: 1_000, sentAs: 'address' });
  }
  return { files, videos, realMs };
}

function drawRequest(random: () => number, isEnhanced: boolean) {
  const { files, videos, realMs } = drawVideos(random);
  const stated = pick(random, [undefined, 0.001, 1, 2.5, 45]);
  const { request } = parseRequest({
    model: pick(random, Object.keys(catalogue.models)),
    prompt: 'a lighthouse at dusk',
    resolution: pick(random, contractResolutions),
    ratio: pick(random, ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']),
    duration: random() < 0.2 ? -1 : between(random, 4, 15),
    ...(random() < 0.8 ? { videos } : {}),
    metadata: {
      generate_audio: random() < 0.5,
      draft: random() < 0.2,
      ...(stated === undefined ? {} : { input_video_duration: stated }),
      ...(isEnhanced ? { super_resolution_config: drawEnhancement(random) } : {}),
    },
  });
  const plan = request && planTask(request, catalogue, { seed: 1, files }).plan;
  return plan && { request, files, plan, realMs: request.videos.length > 0 ? realMs : 0 };
}

function drawEnhancement(random: () => number) {
  const target = random() < 0.7 ? 'resolution' : 'resolution_limit';
  return {
    [target]:
      target === 'resolution' ? pick(random, enhancedResolutions) : between(random, 64, 2_160),
    tool_version: pick(random, ['standard', 'professional']),
    ...(random() < 0.6 ? { fps: between(random, 1, 120) } : {}),
  };
}

/**
 * The length of a video of 24 frames per second and one frame more, cut or filled to whole frames
 * of the rate. It is rounded to milliseconds in one way or the other.
 */
function reportedMilliseconds(plan: Plan, random: () => number): number {
  const seconds = plan.durationSeconds === -1 ? 15 : plan.durationSeconds;
  const fps = plan.enhancement?.fps ?? 24;
  const rounded = pick(random, [Math.floor, Math.ceil, Math.round]);
  const frames = pick(random, [Math.floor, Math.ceil, Math.round])(((24 * seconds + 1) * fps) / 24);
  return rounded((1_000 * frames) / fps);
}

/** The figure that the studio reports. A length that the model chooses is as long as possible. */
function reportedTokens(plan: Plan, realMs: number, random: () => number): number {
  const { upstreamModel } = plan.channels[0]!;
  const tier = contractResolutions.find((one) => one === plan.resolution)!;
  const sizes = findModel(upstreamModel)!.sizes[tier];
  const shape = { width: between(random, 300, 6_000), height: between(random, 300, 6_000) };
  return countTokens({
    ...(plan.ratio === 'adaptive' ? adaptiveSize(sizes, shape) : sizes[plan.ratio as Ratio]),
    outputSeconds: plan.durationSeconds === -1 ? 15 : plan.durationSeconds,
    inputVideoSeconds: realMs / 1_000,
    hasInputVideo: realMs > 0,
    isDraft: plan.draft,
    hasAudio: plan.generateAudio ?? false,
  });
}

test.each([
  ['', false],
  [' with super-resolution', true],
])('the hold of 2,000 hostile requests%s covers the charge', (_, isEnhanced) => {
  const random = randomFrom(20_261_125);
  const short: string[] = [];
  let withVideo = 0;
  for (let done = 0; done < requests; ) {
    const drawn = drawRequest(random, isEnhanced);
    if (!drawn) continue;
    done += 1;
    const { plan, realMs } = drawn;
    if (realMs > 0) withVideo += 1;
    const completionTokens = reportedTokens(plan, realMs, random);
    const outputMilliseconds = reportedMilliseconds(plan, random);
    const lines = settlementFor(plan, { completionTokens, outputMilliseconds });
    const isShort = lines.some((line, at) => line.amountMicros > plan.hold.lines[at]!.amountMicros);
    if (isShort || lines.length !== (isEnhanced ? 2 : 1)) {
      short.push(`${plan.entry} ${plan.resolution} ${plan.ratio} ${realMs}: ${total(lines)}`);
    }
  }
  expect(short).toEqual([]);
  expect(withVideo).toBeGreaterThan(requests / 4);
});

test('the stated length sets the hold of a trusted account only, and lowers no other hold', () => {
  const random = randomFrom(20_261_128);
  let lowered = 0;
  for (let done = 0; done < requests; ) {
    const drawn = drawRequest(random, random() < 0.5);
    if (!drawn) continue;
    done += 1;
    const { request, files, plan } = drawn;
    const { input_video_duration: stated, ...metadata } = request.metadata;
    const silent = planTask({ ...request, metadata }, catalogue, { seed: 1, files }).plan!;
    const trusted = planTask(request, catalogue, { seed: 1, files, trustsLengths: true }).plan!;
    expect(plan.hold.amountMicros).toBeGreaterThanOrEqual(silent.hold.amountMicros);
    if (stated === undefined) expect(trusted.hold).toEqual(plan.hold);
    else if (request.videos.length === 0) expect(trusted.hold).toEqual(silent.hold);
    else if (trusted.hold.amountMicros < silent.hold.amountMicros) lowered += 1;
  }
  expect(lowered).toBeGreaterThan(requests / 4);
});
