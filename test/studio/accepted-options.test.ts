// Walks all pairs of options of all models of catalogue.yaml. The studio must take the create of
// every request that the service accepts: a caller must not wait for a job that can never run. The parsers
// of the studio's routes read every create, and a spread of them is sent to a studio.

import { createArk, generationBody } from '../../activities/providers/ark/client';
import { createMediakit, enhancementBody } from '../../activities/providers/mediakit/client';
import { UpstreamFault } from '../../activities/providers/provider';
import type { Model } from '../../src/catalogue/catalogue.rules';
import { metadataFields } from '../../src/contract/metadata-schema';
import { parseRequest } from '../../src/contract/parse-request';
import { requestFields } from '../../src/contract/request-schema';
import { contractRatios, contractResolutions } from '../../src/contract/vocabulary';
import type { RequestedJob } from '../../src/jobs/job.rules';
import { planTask } from '../../src/planning/plan.rules';
import { parseGenerationRequest } from '../../studio/protocol/ark/generation-request';
import type { Body } from '../../studio/protocol/fields';
import { parseEnhancementRequest } from '../../studio/protocol/mediakit/enhancement-request';
import { ProtocolError } from '../../studio/protocol-error';
import { aJobInput } from '../support/builders';
import { theCatalogue } from '../support/catalogue';
import { apiKey, type OpenStudio, openStudio } from './open-studio';

const catalogue = theCatalogue();

const picture = 'https://media.example.com/picture.png';
const clip = 'https://media.example.com/clip.mp4';
const sound = 'https://media.example.com/sound.mp3';
const times = (count: number, url: string) => Array.from({ length: count }, () => url);

/** Values of each field; those of `duration` depend on the model. */
const valuesOf = ({ durations }: Model): Readonly<Record<string, readonly unknown[]>> => ({
  prompt: ['a golden--ratio spiral -- in sand'],
  mode: ['fast', 'pro', 'other'],
  input_type: ['text_to_video', 'first_last_frame', 'reference'],
  image: [picture],
  images: [1, 2, 4, 9].map((count) => times(count, picture)),
  videos: [1, 3].map((count) => times(count, clip)),
  audios: [1, 3].map((count) => times(count, sound)),
  resolution: contractResolutions,
  ratio: contractRatios,
  size: ['480p', '1280x720', '1440x1440'],
  duration: [-1, durations.min, durations.max, 15],
  seconds: ['6'],
});

const metadataValues: Readonly<Record<string, readonly unknown[]>> = {
  generate_audio: [true, false],
  watermark: [true, false],
  draft: [true, false],
  seed: [-1, 0, 4_294_967_295],
  return_last_frame: [true, false],
  execution_expires_after: [3_600, 259_200],
  tools: [[], { type: 'web_search' }],
  super_resolution_config: [
    { resolution: '1080p' },
    { resolution: '4k', scene: 'old_film', tool_version: 'professional' },
    { resolution_limit: 961, fps: 120 },
    { resolution_limit: 2_160, scene: 'ugc', fps: 1 },
  ],
  callback_url: ['https://hooks.example.com/video'],
  safety_identifier: ['x'.repeat(64)],
  input_video_duration: [0.1, 45],
  labels: [{ project: 'one' }],
  camera_fixed: [true],
};

interface Option {
  readonly name: string;
  readonly fields: object;
  readonly metadata: object;
}

function optionsOf(model: Model): Option[] {
  const atTop = Object.entries(valuesOf(model)).flatMap(([name, values]) =>
    values.map((value) => ({ name, fields: { [name]: value }, metadata: {} })),
  );
  const inside = Object.entries(metadataValues).flatMap(([name, values]) =>
    values.map((value) => ({
      name: `metadata.${name}`,
      fields: {},
      metadata: { [name]: value },
    })),
  );
  return [...atTop, ...inside];
}

function* pairsOf(options: readonly Option[]): Generator<readonly [Option, Option]> {
  for (const [index, first] of options.entries()) {
    for (const second of options.slice(index)) {
      if (first === second || first.name !== second.name) yield [first, second];
    }
  }
}

/** The job of this pair of options; null if the service refuses them. */
function jobOf(model: Model, pair: readonly Option[]): RequestedJob | null {
  const fields = pair.map((option) => option.fields);
  const metadata = pair.map((option) => option.metadata);
  const { request, faults, ...from } = parseRequest({
    ...Object.assign({ model: model.id, prompt: 'a cat' }, ...fields),
    metadata: Object.assign({}, ...metadata),
  });
  if (faults.length > 0) return null;
  const { plan } = planTask(request, catalogue, { seed: 7, ...from });
  return plan ? aJobInput({ request, plan, videoUrl: clip }) : null;
}

let studio: OpenStudio;

beforeAll(async () => {
  studio = await openStudio();
  const script = { render: 'none', run_s: 6_000, enhance: { render: 'none', run_s: 6_000 } };
  expect((await studio.call('POST', '/admin/script', script)).status).toBe(200);
});
afterAll(() => studio.close());

interface Create {
  readonly body: string;
  /** What the studio's route does with the body. */
  readonly parse: (body: Body) => unknown;
  readonly send: () => Promise<unknown>;
}

/** The creates of this job at the studio. */
function createsOf(input: RequestedJob): readonly Create[] {
  const access = { apiKey, timeoutMs: 60_000, honoursIdempotencyKey: false, hasList: true };
  const { upstreamModel } = input.plan.channels[0]!;
  const generator = () => createArk({ ...access, baseUrl: `${studio.url}/api/v3` });
  const enhancer = () => createMediakit({ ...access, baseUrl: studio.url });
  const generation: Create = {
    body: JSON.stringify(generationBody(input, upstreamModel)),
    parse: parseGenerationRequest,
    send: () => generator().create(input, upstreamModel),
  };
  if (!input.plan.enhancement) return [generation];
  const enhancement: Create = {
    body: JSON.stringify({ ...enhancementBody(input), client_token: '' }),
    parse: parseEnhancementRequest,
    send: () => enhancer().create(input, ''),
  };
  return [generation, enhancement];
}

/** Returns the code and the field of the studio's refusal; null if it takes the create. */
async function refusalOf(create: () => unknown): Promise<string | null> {
  try {
    await create();
    return null;
  } catch (error) {
    if (!(error instanceof UpstreamFault || error instanceof ProtocolError)) throw error;
    return `${error.code} ${error.param}`;
  }
}

test('the walk has values of every field', () => {
  const fields = Object.keys(valuesOf(Object.values(catalogue.models)[0]!));
  expect(['model', ...fields].sort()).toEqual(Object.keys(requestFields).sort());
  expect(Object.keys(metadataValues).sort()).toEqual(
    ['camera_fixed', ...Object.keys(metadataFields)].sort(),
  );
});

const sentMax = 20;

test.each(Object.keys(catalogue.models))(
  'the studio takes every pair of options that is accepted for %s',
  async (id) => {
    const model = catalogue.models[id]!;
    const refused: string[] = [];
    const tried = new Set<string>();
    const creates = new Map<string, Create & { readonly shown: string }>();
    for (const pair of pairsOf(optionsOf(model))) {
      const input = jobOf(model, pair);
      if (!input) continue;
      for (const { name } of pair) tried.add(name);
      const options = pair.map(({ fields, metadata }) =>
        JSON.stringify({ ...fields, ...metadata }),
      );
      for (const create of createsOf(input)) {
        if (!creates.has(create.body)) {
          creates.set(create.body, { ...create, shown: options.join(' and ') });
        }
      }
    }
    const every = Math.ceil(creates.size / sentMax);
    for (const [index, { body, parse, send, shown }] of [...creates.values()].entries()) {
      const ways = [() => parse(JSON.parse(body)), ...(index % every === 0 ? [send] : [])];
      for (const way of ways) {
        const refusal = await refusalOf(way);
        if (refusal) refused.push(`${shown}: ${refusal}`);
      }
    }
    expect(refused).toEqual([]);
    expect(tried.size).toBeGreaterThan(15);
  },
  120_000,
);
