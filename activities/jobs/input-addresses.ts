// The addresses of input files, made when a job is sent: a link of the storage or of this service that
// the generator can reach, else the bytes themselves. Links of the storage last until the deadline.

import { buffer } from 'node:stream/consumers';
import type { Knex } from 'knex';
import type { VideoRequest } from '../../src/contract/request';
import { type FileRow, findStoredFiles } from '../../src/db/files/links';
import { fileLink, isReachable } from '../../src/domain/file-link';
import type { RequestedJob } from '../../src/domain/job';
import type { Storage } from '../../src/storage/storage';

interface InputStorage {
  readonly storage: Storage;
  /** Address of the API in links. */
  readonly publicUrl: string;
  readonly allowHosts: readonly string[];
}

export interface InputDeps {
  readonly db: Knex;
  readonly inputs: InputStorage;
}

// The longest life that S3 gives a link.
const presignedSecondsMax = 604_800;

/** With `inputIsGone` if a file was removed since the create. */
export async function withInputAddresses(
  deps: InputDeps,
  input: RequestedJob,
): Promise<RequestedJob> {
  const files = input.plan.files;
  if (!files || input.kind !== 'generation') return input;
  const ids = Object.values(files);
  const rows = await findStoredFiles(deps.db, input.accountId, { ids });
  const addresses = new Map<string, string>();
  for (const [sent, id] of Object.entries(files)) {
    const row = rows.find((found) => found.id === id);
    if (!row) return { ...input, inputIsGone: true };
    addresses.set(sent, await addressOf(deps.inputs, row, input.plan.expiresAfterSeconds));
  }
  return { ...input, request: withAddresses(input.request, addresses) };
}

function withAddresses(
  request: VideoRequest,
  addresses: ReadonlyMap<string, string>,
): VideoRequest {
  const replaced = (list: readonly string[]) => list.map((sent) => addresses.get(sent) ?? sent);
  const { images, videos, audios } = request;
  return {
    ...request,
    images: replaced(images),
    videos: replaced(videos),
    audios: replaced(audios),
  };
}

async function addressOf(
  { storage, publicUrl, allowHosts }: InputStorage,
  { key, id, linkToken, contentType }: FileRow,
  neededSeconds: number,
): Promise<string> {
  const type = contentType ?? '';
  const seconds = Math.min(neededSeconds, presignedSecondsMax);
  const presigned = await storage.presigned(key, { seconds, contentType: type });
  if (presigned !== null) return presigned;
  if (isReachable(publicUrl, allowHosts)) return fileLink(publicUrl, linkToken, type);
  const bytes = await storage.read(key);
  if (!bytes) throw new Error(`The storage has no object of the file ${id}.`);
  return `data:${type};base64,${(await buffer(bytes)).toString('base64')}`;
}
