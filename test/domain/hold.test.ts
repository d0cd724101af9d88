// Draws random requests of hostile callers: lengths that are stated too short, unmeasured videos
// beside measured ones, sizes that only the generator knows. The studio counts the tokens, as the
// real provider does. No charge may be above its hold.

import { parseRequest } from '../../src/contract/parse-request';
import { resolutions } from '../../src/contract/vocabulary';
import type { InputFile } from '../../src/domain/input-files';
import { planTask } from '../../src/domain/plan';
import type { Plan } from '../../src/domain/plan-types';
import { settlementFor, total } from '../../src/domain/pricing';
import { adaptiveSize, findModel, type Ratio } from '../../studio/jobs/models';
import { countTokens } from '../../studio/protocol/count-tokens';
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
    const durationMs = random() < 0.6 ? ms : null;
    files.set(sent, { id: sent, media: 'video', bytes: 1_000, durationMs, sentAs: 'address' });
  }
  return { files, videos, realMs };
}

function drawRequest(random: () => number) {
  const { files, videos, realMs } = drawVideos(random);
  const stated = pick(random, [undefined, 0.001, 1, 2.5, 45]);
  const { request } = parseRequest({
    model: pick(random, Object.keys(catalogue.models)),
    prompt: 'a lighthouse at dusk',
    resolution: pick(random, resolutions),
    ratio: pick(random, ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']),
    duration: random() < 0.2 ? -1 : between(random, 4, 15),
    ...(random() < 0.8 ? { videos } : {}),
    metadata: {
      generate_audio: random() < 0.5,
      draft: random() < 0.2,
      ...(stated === undefined ? {} : { input_video_duration: stated }),
    },
  });
  const plan = request && planTask(request, catalogue, { seed: 1, files }).plan;
  return plan && { plan, realMs: request.videos.length > 0 ? realMs : 0 };
}

/** The figure that the studio reports. A length that the model chooses is as long as possible. */
function reportedTokens(plan: Plan, realMs: number, random: () => number): number {
  const { upstreamModel } = plan.channels[0]!;
  const sizes = findModel(upstreamModel)!.sizes[plan.resolution];
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

test('the hold of 2,000 hostile requests covers what the generator counts', () => {
  const random = randomFrom(20_261_125);
  const short: string[] = [];
  let withVideo = 0;
  for (let done = 0; done < requests; ) {
    const drawn = drawRequest(random);
    if (!drawn) continue;
    done += 1;
    const { plan, realMs } = drawn;
    if (realMs > 0) withVideo += 1;
    const completionTokens = reportedTokens(plan, realMs, random);
    const charge = total(settlementFor(plan, { completionTokens, outputMilliseconds: null }));
    if (charge > plan.hold.amountMicros) {
      short.push(`${plan.entry} ${plan.resolution} ${plan.ratio} ${realMs}: ${charge}`);
    }
  }
  expect(short).toEqual([]);
  expect(withVideo).toBeGreaterThan(requests / 4);
});
