// Makes the request of a create out of the arguments, and uploads the files that they name.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { VideoRequest } from '../api-types.ts';
import type { VideoClient } from '../client.ts';
import { labelsOf, UsageError, type Values } from './arguments.ts';

export async function requestOf(
  client: VideoClient,
  prompt: string,
  values: Values,
  signal: AbortSignal,
): Promise<VideoRequest> {
  const { model = 'studio-2.0', mode, resolution, ratio, duration, image, video, audio } = values;
  const metadata = await metadataOf(values);
  const images = await uploaded(client, image, signal);
  const videos = await uploaded(client, video, signal);
  const audios = await uploaded(client, audio, signal);
  // The service checks every value, and its refusal names all faults.
  const request = {
    ...{ mode, input_type: values['input-type'], resolution, ratio, duration },
    ...{ images, videos, audios },
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
  };
  return { model, prompt, ...given(request) };
}

/** The options go before the fields of `--metadata`. */
export async function metadataOf(values: Values): Promise<Record<string, unknown>> {
  const { metadata, sound, seed, deadline, watermark, draft, tool } = values;
  if (sound && values['no-sound'])
    throw new UsageError('--sound and --no-sound exclude each other.');
  const base = metadata === undefined ? {} : await objectIn('metadata', metadata);
  const target = values['super-resolution'];
  const options = {
    ...{ watermark, draft, return_last_frame: values['last-frame'] },
    generate_audio: values['no-sound'] ? false : sound,
    ...{
      seed: wholeNumber('seed', seed),
      execution_expires_after: wholeNumber('deadline', deadline),
    },
    tools: tool?.map((type) => ({ type })),
    super_resolution_config: target === undefined ? undefined : await enhancementOf(target),
    ...{ callback_url: values.callback, safety_identifier: values['safety-identifier'] },
    input_video_duration: number('input-video-duration', values['input-video-duration']),
    labels: values.label ? { ...Object(base.labels), ...labelsOf(values) } : undefined,
  };
  return { ...base, ...given(options) };
}

const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** A tier, the short side in pixels, or an object with more fields. */
async function enhancementOf(text: string): Promise<Record<string, unknown>> {
  if (/^[{@]/.test(text)) return objectIn('super-resolution', text);
  return /^\d+$/.test(text) ? { resolution_limit: Number(text) } : { resolution: text };
}

/** An object as JSON, or with `@` the name of a file that has one. */
async function objectIn(option: string, text: string): Promise<Record<string, unknown>> {
  const json = text.startsWith('@') ? await readFile(text.slice(1), 'utf8') : text;
  try {
    const value: unknown = JSON.parse(json);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { ...value };
  } catch {
    // The error below says it with the name of the option.
  }
  throw new UsageError(`--${option} must be a JSON object, or @FILE with one.`);
}

/** NaN would be sent as null, and the service takes that for an option that was left out. */
function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined || /^-?\d+$/.test(text)) return number(option, text);
  throw new UsageError(`--${option} must be a whole number; got "${text}".`);
}

function number(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`--${option} must be a number; got "${text}".`);
}

/**
 * Addresses and ids of files are sent as they are. Files are uploaded one after the other, so that a
 * file that is given twice is one upload.
 */
async function uploaded(
  client: VideoClient,
  inputs: readonly string[] | undefined,
  signal: AbortSignal,
) {
  if (!inputs) return undefined;
  const sent: string[] = [];
  for (const input of inputs) {
    const isSentAsIs = /^https?:\/\/|^file_[0-9a-z]{26}$/.test(input);
    // With --key the create may be a repeat, which must send the same body.
    const options = { name: basename(input), reuse: true, signal };
    sent.push(isSentAsIs ? input : (await client.upload(await readFile(input), options)).id);
  }
  return sent;
}
