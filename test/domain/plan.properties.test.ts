// What holds for every request, not only for those somebody thought of. The seed is printed by fast-check when one fails.

import fc from 'fast-check';
import { hashOfRequest } from '../../src/api/task-id';
import { combineFaults, oneRefusal } from '../../src/contract/faults';
import { parseRequest } from '../../src/contract/parse-request';
import type { VideoRequest } from '../../src/contract/request';
import { isJsonObject, parseSafeJson } from '../../src/contract/safe-json';
import { planTask } from '../../src/domain/plan';
import { enhancementTargets } from '../../src/domain/resolution';
import { hostileBody, type RequestBody, requestBody } from '../support/arbitrary';
import { theCatalogue } from '../support/catalogue';

const catalogue = theCatalogue();
const runs = { numRuns: 300 };

function judge(body: RequestBody) {
  const { request, faults } = parseRequest(body);
  const { plan, refusals = [] } = planTask(request, catalogue, { seed: 7 });
  return { request, plan, faults: combineFaults(faults, refusals) };
}

/** The parsed request as a caller could send it again. */
function sendAgain({
  metadata: { passThrough, ...metadata },
  ...request
}: VideoRequest): RequestBody {
  return { ...request, metadata: { ...passThrough, ...metadata } };
}

test('any accepted request yields a plan within the model’s abilities', () => {
  let accepted = 0;
  fc.assert(
    fc.property(requestBody, (body) => {
      const { plan, faults, request } = judge(body);
      if (faults.length > 0) return;
      accepted += 1;
      const model = catalogue.models[plan!.entry]!;
      expect(plan!.model).toBe(body.model);
      expect(model.resolutions).toContain(plan!.resolution);
      expect(model.ratios).toContain(plan!.ratio);
      expect(model.inputs.types).toContain(plan!.inputType);
      const { min, max, auto } = model.durations;
      expect(
        plan!.durationSeconds === -1
          ? auto
          : plan!.durationSeconds >= min && plan!.durationSeconds <= max,
      ).toBe(true);
      if (plan!.draft) expect(plan!.resolution).toBe('480p');
      expect(plan!.generateAudio === null).toBe(!model.audio);
      expect(plan!.width === null).toBe(plan!.ratio === 'adaptive');
      expect(request.videos.length).toBeLessThanOrEqual(model.inputs.videosMax);
      expect(request.audios.length).toBeLessThanOrEqual(model.inputs.audiosMax);
      const target = plan!.enhancement?.resolution;
      if (target) expect(enhancementTargets[plan!.resolution]).toContain(target);
      expect(Number.isSafeInteger(plan!.hold.amountMicros) && plan!.hold.amountMicros > 0).toBe(
        true,
      );
    }),
    runs,
  );
  // The property says nothing unless requests are accepted.
  expect(accepted).toBeGreaterThan(30);
});

test('parsing is idempotent', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const { request, faults } = parseRequest(body);
      if (faults.length > 0) return;
      expect(parseRequest(sendAgain(request))).toEqual({ request, faults: [] });
    }),
    runs,
  );
});

test('metadata as a string equals metadata as an object', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const text = { ...body, metadata: JSON.stringify(body.metadata ?? {}) };
      // What JSON does to a value on its way (-0, undefined) happens to both.
      const object = JSON.parse(JSON.stringify(body)) as RequestBody;
      expect(judge(text)).toEqual(judge(object));
    }),
    runs,
  );
});

test('aliases equal their originals', () => {
  fc.assert(
    fc.property(requestBody, fc.boolean(), ({ duration, images, ...rest }, asText) => {
      const original = {
        ...rest,
        ...(images?.[0] ? { images: [images[0]] } : {}),
        ...(duration === undefined ? {} : { duration: Number(duration) }),
      };
      const alias = {
        ...rest,
        ...(images?.[0] ? { image: images[0] } : {}),
        ...(duration === undefined
          ? {}
          : { seconds: asText ? String(duration) : Number(duration) }),
      };
      const parsed = parseRequest(alias);
      expect(parsed).toEqual(parseRequest(original));
      expect(hashOfRequest(parsed.request)).toBe(hashOfRequest(parseRequest(original).request));
    }),
    runs,
  );
});

test('the hash of a request does not depend on the order of its fields, and tells requests apart', () => {
  fc.assert(
    fc.property(requestBody, requestBody, (body, other) => {
      const shuffled = Object.fromEntries(Object.entries(body).reverse());
      const hash = hashOfRequest(parseRequest(body).request);
      expect(hashOfRequest(parseRequest(shuffled).request)).toBe(hash);
      const another = parseRequest(other).request;
      const same =
        JSON.stringify(sorted(another)) === JSON.stringify(sorted(parseRequest(body).request));
      expect(hashOfRequest(another) === hash).toBe(same);
    }),
    runs,
  );
});

test('whatever is sent is either planned or refused in words, and never breaks', () => {
  fc.assert(
    fc.property(hostileBody, (body) => {
      const { value } = parseSafeJson(JSON.stringify(body));
      if (!value) return;
      const { plan, faults } = judge(value);
      if (faults.length === 0) {
        expect(plan).toBeDefined();
        return;
      }
      const { message, param } = oneRefusal(faults);
      expect(message.split('\n')).toHaveLength(faults.length);
      expect(message.length).toBeLessThan(20_000);
      expect(param).not.toBe('');
      expect(new Set(faults.map((fault) => `${fault.param} ${fault.message}`)).size).toBe(
        faults.length,
      );
    }),
    { numRuns: 1_000 },
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}
