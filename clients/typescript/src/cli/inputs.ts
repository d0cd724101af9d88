// Makes the request of a create out of the arguments, and uploads the files that they name.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { VideoRequest } from '../api-types.ts';
import type { VideoClient } from '../client.ts';
import { labelsOf, type Values } from './arguments.ts';

export async function requestOf(
  client: VideoClient,
  prompt: string,
  values: Values,
  signal: AbortSignal,
): Promise<VideoRequest> {
  const { model = 'studio-2.0', resolution, ratio, duration, seed, image, video, audio } = values;
  const labels = labelsOf(values);
  const metadata = {
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
  };
  const inputs = await Promise.all(
    [image, video, audio].map((some) => uploaded(client, some, signal)),
  );
  // The service checks every value, and its refusal names all faults.
  const request = {
    resolution,
    ratio,
    duration,
    images: inputs[0],
    videos: inputs[1],
    audios: inputs[2],
  };
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const hasMetadata = Object.keys(metadata).length > 0;
  return { model, prompt, ...Object.fromEntries(given), ...(hasMetadata ? { metadata } : {}) };
}

/** Addresses and ids of files are sent as they are. */
async function uploaded(
  client: VideoClient,
  inputs: readonly string[] | undefined,
  signal: AbortSignal,
) {
  if (!inputs) return undefined;
  return Promise.all(
    inputs.map(async (input) => {
      if (/^https?:\/\/|^file_[0-9a-z]{26}$/.test(input)) return input;
      // With --key the create may be a repeat, which must send the same body.
      const options = { name: basename(input), reuse: true, signal };
      const { id } = await client.upload(await readFile(input), options);
      return id;
    }),
  );
}
