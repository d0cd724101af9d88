// Tests properties of parsing and planning that hold for every request. fast-check prints the seed
// of a failure.

import fc from 'fast-check';
import type { Model } from '../../src/catalogue/catalogue.rules';
import { oneRefusal } from '../../src/contract/faults';
import { metadataFields } from '../../src/contract/metadata-schema';
import { parseRequest } from '../../src/contract/parse-request';
import type { VideoRequest } from '../../src/contract/request';
import { requestFields } from '../../src/contract/request-schema';
import { isJsonObject, parseSafeJson } from '../../src/contract/safe-json';
import { inputTypes } from '../../src/contract/vocabulary';
import { allFaults } from '../../src/planning/all-faults.rules';
import { planTask } from '../../src/planning/plan.rules';
import type { Plan } from '../../src/planning/plan-types.rules';
import { targetsOf } from '../../src/planning/resolution.rules';
import { hashOfRequest } from '../../src/tasks/create/request-hash';
import { hostileBody, type RequestBody, requestBody } from '../support/arbitrary';
import { theCatalogue } from '../support/catalogue';

const catalogue = theCatalogue();
const runs = { numRuns: 1_000 };
const fewerRuns = { numRuns: 250 };

function judge(body: RequestBody) {
  const { request, faults, ...from } = parseRequest(body);
  const { plan, refusals = [] } = planTask(request, catalogue, { seed: 7, ...from });
  return { request, plan, ofShape: faults, faults: allFaults(faults, refusals) };
}

/** Returns the parsed request in the form in which a caller could send it again. */
function sendAgain({
  metadata: { passThrough, ...metadata },
  ...request
}: VideoRequest): RequestBody {
  return { ...request, metadata: { ...passThrough, ...metadata } };
}

/** Checks that an accepted request asks only for what its catalogue entry can do. */
function expectWithinAbilities({ metadata, ...request }: VideoRequest, plan: Plan): void {
  const model = catalogue.models[plan.entry]!;
  expect(model.resolutions).toContain(plan.resolution);
  expect(model.ratios).toContain(plan.ratio);
  expect(model.inputs.types).toContain(plan.inputType);
  const { min, max, auto } = model.durations;
  const { durationSeconds: length } = plan;
  expect(length === -1 ? auto : length >= min && length <= max).toBe(true);
  if (plan.draft) expect([model.draft !== null, plan.resolution]).toEqual([true, '480p']);
  expect(plan.generateAudio === null).toBe(!model.audio);
  if (metadata.return_last_frame) expect(model.lastFrame).toBe(true);
  for (const { type } of metadata.tools ?? []) expect(model.tools).toContain(type);
  expect(plan.width === null).toBe(plan.ratio === 'adaptive');
  expect(plan.seed).toBeGreaterThanOrEqual(0);
  expect(plan.channels).toEqual(model.channels);
  expectMediaWithin(request, plan.inputType, model.inputs);
}

function expectMediaWithin(
  { images, videos, audios }: Pick<VideoRequest, 'images' | 'videos' | 'audios'>,
  inputType: Plan['inputType'],
  { referenceImagesMax, videosMax, audiosMax, middleFrames }: Model['inputs'],
): void {
  const counts = [images.length, videos.length, audios.length];
  switch (inputType) {
    case 'text_to_video':
      expect(counts).toEqual([0, 0, 0]);
      return;
    case 'first_last_frame':
      expect(counts.slice(1)).toEqual([0, 0]);
      expect(images.length).toBeGreaterThanOrEqual(2);
      expect(images.length).toBeLessThanOrEqual(middleFrames ? 9 : 2);
      return;
    case 'reference':
      expect(Math.max(...counts)).toBeGreaterThan(0);
      expect(images.length).toBeLessThanOrEqual(referenceImagesMax);
      expect(videos.length).toBeLessThanOrEqual(videosMax);
      expect(audios.length).toBeLessThanOrEqual(audiosMax);
  }
}

test('every accepted request gives a plan that the model can carry out', () => {
  const accepted = { entries: new Set<string>(), types: new Set<string>() };
  let count = 0;
  fc.assert(
    fc.property(requestBody, (body) => {
      const { plan, faults, request } = judge(body);
      if (faults.length > 0) return;
      count += 1;
      accepted.entries.add(plan!.entry);
      accepted.types.add(plan!.inputType);
      expect(plan!.model).toBe(body.model);
      expectWithinAbilities(request, plan!);
      const target = plan!.enhancement?.resolution;
      if (target) expect(targetsOf(plan!.resolution)).toContain(target);
      const limit = plan!.enhancement?.resolutionLimit;
      if (limit && plan!.width) expect(limit).toBeGreaterThan(Math.min(plan!.width, plan!.height!));
      const { amountMicros } = plan!.hold;
      expect(Number.isSafeInteger(amountMicros) && amountMicros > 0).toBe(true);
    }),
    runs,
  );
  // The check proves something only if requests of every model and every type were accepted.
  expect(count).toBeGreaterThan(runs.numRuns / 20);
  expect(accepted.entries.size).toBe(Object.keys(catalogue.models).length);
  expect(accepted.types.size).toBe(inputTypes.length);
});

test('a parsed request that is parsed again does not change', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const { request, faults } = parseRequest(body);
      if (faults.length > 0) return;
      expect(parseRequest(sendAgain(request))).toEqual({ request, faults: [], ignored: [] });
    }),
    runs,
  );
});

test('the field `metadata` may be a JSON string or an object, and both give the same plan or faults', () => {
  fc.assert(
    fc.property(requestBody, (body) => {
      const text = { ...body, metadata: JSON.stringify(body.metadata ?? {}) };
      const asText = parseSafeJson(JSON.stringify(text)).value!;
      // Both forms go through the parser of bodies, which refuses some names and characters.
      const asObject = parseSafeJson(JSON.stringify(body)).value;
      if (asObject) expect(judge(asText)).toEqual(judge(asObject));
      else expect(judge(asText).faults.map(({ param }) => param)).toContain('metadata');
    }),
    runs,
  );
});

test('a request with alias fields is parsed like the same request with the original fields', () => {
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
      expect({ ...parsed, lengthFrom: undefined }).toEqual(parseRequest(original));
      expect(hashOfRequest(parsed.request)).toBe(hashOfRequest(parseRequest(original).request));
    }),
    runs,
  );
});

test('a tier in `size` gives the same plan as that tier in `resolution`', () => {
  fc.assert(
    fc.property(requestBody, fc.constantFrom('480p', '720p', '1080p', '4k'), (body, tier) => {
      const { size: _, resolution: __, ...rest } = body;
      const original = judge({ ...rest, resolution: tier });
      const alias = judge({ ...rest, size: tier });
      expect(alias.plan).toEqual(original.plan);
      // A refusal names the field that was sent.
      expect(alias.faults.map(({ param }) => param.replace('size', 'resolution'))).toEqual(
        original.faults.map(({ param }) => param),
      );
      // If a resolution is sent, size is ignored.
      expect(judge({ ...rest, resolution: tier, size: 7 })).toEqual(original);
    }),
    fewerRuns,
  );
});

test('different requests have different hashes, and the order of fields does not change the hash of a request', () => {
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
    fewerRuns,
  );
});

test('a field of the wrong shape causes no fault of another field', () => {
  const topLevel = Object.keys(requestFields);
  const options = Object.keys(metadataFields);
  let further = 0;
  fc.assert(
    fc.property(
      requestBody,
      fc.subarray(topLevel, { maxLength: 2 }),
      fc.subarray(options, { maxLength: 2 }),
      (body, top, inner) => {
        // No field is a list with this element.
        const wrong = (names: readonly string[]) =>
          Object.fromEntries(names.map((name) => [name, [7]]));
        const metadata = { ...body.metadata, ...wrong(inner) };
        const { faults, ofShape } = judge({ ...body, metadata, ...wrong(top) });
        const own = ofShape.map(({ message }) => message);
        const others = faults.map(({ message }) => message).filter((one) => !own.includes(one));
        // Without a model, a fault that holds for every model may be found behind others.
        const mended = [body, { ...body, model: 'none' }].flatMap((one) =>
          judge(one).faults.map(({ message }) => message),
        );
        expect(others.filter((one) => !mended.includes(one))).toEqual([]);
        if (own.length > 0) further += others.length;
      },
    ),
    runs,
  );
  expect(further).toBeGreaterThan(0);
});

test('every request body is either planned or refused with a message', () => {
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
