// A channel for each way in which jobs are read, each behind a proxy of its own: their catalogue, and
// what the answers of their provider look like.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseCatalogue } from './catalogue';
import { aDashscopeChannel, aWanModel } from './dashscope-catalogue';
import { aKlingChannel, aKlingModel } from './kling-catalogue';
import type { Lie } from './liar';
import { aMinimaxChannel, aMinimaxModel, withMinimax } from './minimax-catalogue';
import { aVideosChannel, aVideosModel } from './videos-catalogue';

export interface Reader {
  readonly protocol: string;
  /** The name of the channel, and of its model. */
  readonly channel: string;
  readonly model: string;
  readonly way: string;
  /** The path of a read. */
  readonly read: RegExp;
  /** The path of the bytes, if they are read from the provider with the key. */
  readonly content?: RegExp;
  readonly emptyList?: string;
  readonly unknownJob: Lie;
  /** The provider's code for a video that was filtered. */
  readonly filtered: string;
  readonly request: Readonly<Record<string, unknown>> & { readonly metadata?: object };
  /** What the task of this request costs. */
  readonly charged: string;
  /** What it costs if the enhancer reports a minute. */
  readonly chargedAtMost?: string;
  readonly enhances?: true;
}

const oneByOne = 'one by one';
const byList = 'in a list';
const empty = '{"items":[],"total":0}';
const notFound = (body: string, status = 404): Lie => ({ status, body });

const ark = {
  protocol: 'ark',
  read: /^\/api\/v3\/contents\/generations\/tasks[/?]/,
  unknownJob: notFound('{"error":{"code":"ResourceNotFound","message":"m"}}'),
  filtered: 'OutputVideoSensitiveContentDetected',
  request: { duration: 5 },
  charged: '5.009400',
};
const minimax = {
  protocol: 'minimax',
  read: /^\/v2\/query\/video_generation[/?]/,
  unknownJob: notFound('{"type":"error","error":{"message":"record not found"}}', 500),
  filtered: '1027',
  request: { duration: 5 },
  charged: '4.968000',
};

export const readers: readonly Reader[] = [
  { ...ark, channel: 'ark-list', model: 'ark-list', way: byList, emptyList: empty },
  { ...ark, channel: 'ark-each', model: 'ark-each', way: oneByOne },
  {
    ...ark,
    ...{ protocol: 'mediakit', channel: 'mediakit', model: 'studio-2.0', way: oneByOne },
    ...{ read: /^\/api\/v1\/tasks\//, filtered: 'ContentRisk', enhances: true },
    unknownJob: notFound('{"success":false,"error":{"code":"TaskNotFound"}}'),
    request: {
      duration: 5,
      metadata: { super_resolution_config: { resolution: '1080p', tool_version: 'standard' } },
    },
    ...{ charged: '5.135450', chargedAtMost: '5.160450' },
  },
  { ...minimax, channel: 'minimax', model: 'minimax', way: byList, emptyList: empty },
  { ...minimax, channel: 'minimax-each', model: 'minimax-each', way: oneByOne },
  {
    ...{ protocol: 'openai-videos', channel: 'videos', model: 'videos', way: oneByOne },
    read: /^\/v1\/videos\/[^/]+$/,
    content: /\/content$/,
    unknownJob: notFound('{"error":{"code":"video_not_found"}}'),
    filtered: 'moderation_blocked',
    request: { duration: 4 },
    charged: '3.974400',
  },
  {
    ...{ protocol: 'dashscope', channel: 'dashscope', model: 'wan', way: oneByOne },
    read: /\/tasks\/[\w-]+$/,
    unknownJob: { status: 200, body: '{"output":{"task_status":"UNKNOWN"}}' },
    filtered: 'DataInspectionFailed',
    request: { duration: 5 },
    charged: '4.968000',
  },
  {
    ...{ protocol: 'kling', channel: 'kling', model: 'kling', way: oneByOne },
    read: /^\/kling\/v1\/videos\/[\w-]+\/\d+$/,
    unknownJob: notFound('{"code":1203}'),
    filtered: '1301',
    request: { duration: 5 },
    charged: '4.968000',
  },
];

/** The catalogue file with these channels, whose provider is at this address. */
export function readersFile(
  urlOf: (reader: Reader) => string,
  { honoursIdempotencyKey }: { readonly honoursIdempotencyKey: boolean },
): string {
  const url = (name: string) => urlOf(readers.find(({ channel }) => channel === name)!);
  // Reads have time enough on a busy machine.
  const calm = { requestTimeoutMs: 20_000, pollIntervalMs: 400 };
  const fast = { apiKeyEnv: 'STUDIO_API_KEY', ...calm };
  const arkAt = (name: string, hasList: boolean) => ({
    ...{ protocol: 'ark', baseUrl: `${url(name)}/api/v3`, hasList },
    ...{ ...fast, honoursIdempotencyKey, listLagMs: 0 },
  });
  const file = JSON.parse(withMinimax(aMinimaxChannel(url('minimax'), calm), {}, ['mediakit'])) as {
    channels: object;
    models: Record<string, object>;
  };
  const arkModel = (channel: string) => ({
    ...file.models['studio-2.0'],
    channels: [{ channel, upstreamModel: 'studio-2.0' }],
  });
  const minimaxModel = (channel: string) => ({
    ...aMinimaxModel(),
    channels: [{ channel, upstreamModel: 'MiniMax-H3', meter: { perSecond: { '720p': 21_600 } } }],
  });
  return JSON.stringify({
    ...file,
    channels: {
      ...file.channels,
      'ark-list': arkAt('ark-list', true),
      'ark-each': arkAt('ark-each', false),
      mediakit: { protocol: 'mediakit', baseUrl: url('mediakit'), ...fast, hasList: false },
      'minimax-each': aMinimaxChannel(url('minimax-each'), { ...calm, hasList: false }),
      videos: aVideosChannel(`${url('videos')}/v1`, { ...calm, profile: 'gateway' }),
      dashscope: aDashscopeChannel(url('dashscope'), fast),
      kling: aKlingChannel(url('kling'), { ...fast, apiKeyEnv: 'KEY_PAIR' }),
    },
    models: {
      ...file.models,
      'ark-list': arkModel('ark-list'),
      'ark-each': arkModel('ark-each'),
      minimax: minimaxModel('minimax'),
      'minimax-each': minimaxModel('minimax-each'),
      videos: aVideosModel('videos'),
      wan: aWanModel('dashscope'),
      kling: aKlingModel('kling'),
    },
  });
}

/** The catalogue of these channels, with options that let the script of the studio pass. */
export function readersCatalogue(studioUrl: string, urlOf: (reader: Reader) => string): Catalogue {
  const catalogue = parseCatalogue(readersFile(urlOf, { honoursIdempotencyKey: true }), {
    STUDIO_URL: studioUrl,
  });
  const models = Object.entries(catalogue.models).map(([id, model]) => [
    id,
    { ...model, limits: { ...model.limits, options: null } },
  ]);
  return { ...catalogue, models: Object.fromEntries(models) };
}
