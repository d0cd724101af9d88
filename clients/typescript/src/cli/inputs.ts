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
  const { model = 'studio-2.0', resolution, ratio, duration, seed, image, video, audio } = values;
  const labels = labelsOf(values);
  const metadata = {
    ...(seed === undefined ? {} : { seed: wholeNumber(seed) }),
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
  };
  const images = await uploaded(client, image, signal);
  const videos = await uploaded(client, video, signal);
  const audios = await uploaded(client, audio, signal);
  // The service checks every value, and its refusal names all faults.
  const request = { resolution, ratio, duration, images, videos, audios };
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const hasMetadata = Object.keys(metadata).length > 0;
  return { model, prompt, ...Object.fromEntries(given), ...(hasMetadata ? { metadata } : {}) };
}

/** NaN would be sent as null, and the service takes that for a seed that was left out. */
function wholeNumber(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new UsageError(`--seed must be a whole number; got "${text}".`);
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
