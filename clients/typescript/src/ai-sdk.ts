// A provider for the Vercel AI SDK (`VideoModelV4`). A start and its status may be in different
// processes: the operation is the id of the task. The SDK's idempotency key is passed on.

import type { VideoRequest } from './api-types.ts';
import { VideoClient } from './client.ts';
import type { ClientOptions } from './transport.ts';

type MediaFile =
  | { type: 'file'; mediaType: string; data: string | Uint8Array }
  | { type: 'url'; url: string; mediaType?: string };

type Warning =
  | { type: 'unsupported'; feature: string; details?: string }
  | { type: 'compatibility'; feature: string; details?: string };

/** The parts of the SDK's options that the provider uses. */
export interface StartOptions {
  prompt: string | undefined;
  aspectRatio: string | undefined;
  resolution: string | undefined;
  duration: number | undefined;
  fps: number | undefined;
  seed: number | undefined;
  image: MediaFile | undefined;
  frameImages: Array<{ image: MediaFile; frameType: 'first_frame' | 'last_frame' }> | undefined;
  inputReferences: Array<MediaFile> | undefined;
  generateAudio: boolean | undefined;
  /** Further fields of a create, under the name `videoGeneration`. */
  providerOptions: Record<string, Record<string, unknown>>;
  abortSignal?: AbortSignal;
  headers?: Record<string, string | undefined>;
  webhookUrl?: string;
}

interface StatusOptions {
  operation: unknown;
  abortSignal?: AbortSignal;
}

export function createVideoProvider(options: ClientOptions = {}) {
  const client = new VideoClient(options);
  return { video: (modelId: string) => videoModel(client, modelId) };
}

function videoModel(client: VideoClient, modelId: string) {
  const response = () => ({ timestamp: new Date(), modelId, headers: undefined });
  return {
    specificationVersion: 'v4' as const,
    provider: 'video-generation',
    modelId,
    maxVideosPerCall: 1,

    // The service calls back only when a task is final, as the SDK expects. The status is read
    // after the call, so a forged call has no effect.
    async handleWebhookOption<Received>({
      webhook,
    }: {
      webhook: () => PromiseLike<{ url: string; received: PromiseLike<Received> }>;
    }) {
      const { url, received } = await webhook();
      return { webhookUrl: url, received };
    },

    async doStart(start: StartOptions) {
      const { request, warnings } = await requestOf(client, modelId, start);
      const { 'idempotency-key': key, ...headers } = definedHeaders(start.headers);
      const { id } = await client.create(request, {
        ...{ headers, signal: start.abortSignal },
        ...(key ? { idempotencyKey: key } : {}),
      });
      return { operation: { id }, warnings, response: response() };
    },

    async doStatus({ operation, abortSignal }: StatusOptions) {
      const { id } = operation as { id: string };
      const task = await client.get(id, { signal: abortSignal });
      if (task.status === 'succeeded' && task.video_url) {
        const videos = [{ type: 'url' as const, url: task.video_url, mediaType: 'video/mp4' }];
        return { status: 'completed' as const, videos, warnings: [], response: response() };
      }
      if (task.status === 'failed' || task.status === 'succeeded') {
        return { status: 'error' as const, error: task.message, response: response() };
      }
      return { status: 'pending' as const, response: response() };
    },
  };
}

async function requestOf(client: VideoClient, model: string, start: StartOptions) {
  const { inputs, warnings } = await inputsOf(client, start);
  if (start.fps !== undefined) warnings.push({ type: 'unsupported', feature: 'fps' });
  const { metadata: more, ...others } = start.providerOptions.videoGeneration ?? {};
  const metadata = given({
    seed: start.seed,
    generate_audio: start.generateAudio,
    callback_url: start.webhookUrl,
    ...(more as object | undefined),
  });
  const request = given({
    ...{ model, prompt: start.prompt ?? '', ratio: start.aspectRatio, size: start.resolution },
    ...{ duration: start.duration, ...inputs, ...others },
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
  });
  return { request: request as unknown as VideoRequest, warnings };
}

async function inputsOf(client: VideoClient, start: StartOptions) {
  const warnings: Warning[] = [];
  const frame = (type: string) =>
    start.frameImages?.find(({ frameType }) => frameType === type)?.image;
  const first = frame('first_frame') ?? start.image;
  const last = frame('last_frame');
  const references = start.inputReferences ?? [];
  if (first && last && references.length === 0) {
    const images = await addresses(client, [first, last]);
    return { inputs: { input_type: 'first_last_frame', images }, warnings };
  }
  const frames = [first, last].flatMap((file) => file ?? []);
  if (frames.length > 0) {
    const details = 'Only a first and a last frame together are frames; sent as references.';
    warnings.push({ type: 'compatibility', feature: 'frameImages', details });
  }
  const kinds = { images: [...frames], videos: [] as MediaFile[], audios: [] as MediaFile[] };
  for (const file of references) {
    if (!file.mediaType) {
      const details = 'A reference without a media type is sent as an image.';
      warnings.push({ type: 'compatibility', feature: 'inputReferences', details });
    }
    const kind = /^(video|audio)\//.exec(file.mediaType ?? '')?.[1] as
      | 'video'
      | 'audio'
      | undefined;
    kinds[kind ? (`${kind}s` as const) : 'images'].push(file);
  }
  const inputs: Record<string, string[]> = {};
  for (const [name, files] of Object.entries(kinds)) {
    if (files.length === 0) continue;
    inputs[name] = await addresses(client, files);
  }
  return { inputs, warnings };
}

/**
 * A repeated start must send the same body, so the same bytes must be the same file. Files are
 * uploaded one after the other, because equal files may be among them.
 */
async function addresses(client: VideoClient, files: readonly MediaFile[]): Promise<string[]> {
  const found: string[] = [];
  for (const file of files) found.push(await address(client, file));
  return found;
}

async function address(client: VideoClient, file: MediaFile): Promise<string> {
  if (file.type === 'url') return file.url;
  const { data } = file;
  const bytes =
    typeof data === 'string' ? Uint8Array.from(atob(data), (one) => one.charCodeAt(0)) : data;
  return (await client.upload(bytes, { reuse: true })).id;
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function definedHeaders(headers: StartOptions['headers'] = {}): Record<string, string> {
  const entries = Object.entries(given(headers)).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
