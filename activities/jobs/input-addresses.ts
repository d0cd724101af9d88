// Makes the URLs of input files when a job is sent. If the storage can sign links, the URL is a
// signed link of the storage. Otherwise the URL is a link of this service, if the generator can
// reach this service. Otherwise the file itself is sent as a data URL. A signed link is valid for
// the time limit of the task, but for at most seven days.

import { buffer } from 'node:stream/consumers';
import type { Knex } from 'knex';
import type { VideoRequest } from '../../src/contract/request';
import { type FileRow, findStoredFiles } from '../../src/db/files/links';
import { fileLink, isReachable } from '../../src/domain/file-link';
import type { RequestedJob } from '../../src/domain/job';
import type { Storage } from '../../src/storage/storage';

interface InputStorage {
  readonly storage: Storage;
  /** The public URL of the API. Each link of this service begins with this URL. */
  readonly publicUrl: string;
  readonly allowHosts: readonly string[];
}

export interface InputDeps {
  readonly db: Knex;
  readonly inputs: InputStorage;
}

// Seven days in seconds, the longest time for which S3 allows a link to be valid.
const presignedSecondsMax = 604_800;

/**
 * Replaces each uploaded file in the input by a URL that the generator can read. If a file was
 * removed after the create of the task, replaces nothing and sets `inputIsGone`.
 */
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
