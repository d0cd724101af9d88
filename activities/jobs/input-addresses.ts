// Makes the URLs of input files when a job is sent. If the storage can sign links that the generator
// can reach, the URL is a signed link of the storage. Otherwise the URL is a link of this service,
// if the generator can reach this service. Otherwise the file itself is sent as a data URL. A signed
// link is valid until the deadline of the task, but for at most seven days.

import { randomBytes } from 'node:crypto';
import type { VideoRequest } from '../../src/contract/request';
import { fileLink, isReachable } from '../../src/files/file-link.rules';
import { type FileRow, findStoredFiles, whyRemoved } from '../../src/files/links.rows';
import type { RemovedBecause } from '../../src/files/results.rules';
import type { InlineFile, RequestedJob } from '../../src/jobs/job.rules';
import type { WorkerDeps } from '../deps';
import { UpstreamFault } from '../providers/provider';

type Sources = Pick<WorkerDeps, 'db' | 'storage'> & {
  readonly settings: Pick<WorkerDeps['settings'], 'publicUrl' | 'dangerouslyAllowProviderHosts'>;
};

// Seven days in seconds, the longest time for which S3 allows a link to be valid.
const presignedSecondsMax = 604_800;

/**
 * Returns the input with a URL for each uploaded file that the generator can read. If a file was
 * removed after the create of the task, replaces nothing and sets `inputIsGone`.
 */
export async function withInputAddresses(
  deps: Sources,
  input: RequestedJob,
): Promise<RequestedJob> {
  const files = input.plan.files;
  if (!files || input.kind !== 'generation') return input;
  const ids = Object.values(files);
  const rows = await findStoredFiles(deps.db, input.accountId, { ids });
  const addresses = new Map<string, string>();
  const inlineFiles: InlineFile[] = [];
  for (const [sent, id] of Object.entries(files)) {
    const row = rows.find((found) => found.id === id);
    if (!row) return { ...input, inputIsGone: await whyRemoved(deps.db, input.accountId, id) };
    const link = await linkOf(deps, row, input);
    const file = link === null ? inlineFileOf(deps, row) : null;
    if (file) inlineFiles.push(file);
    addresses.set(sent, link ?? `data:${row.contentType ?? ''};base64,${file?.mark}`);
  }
  return { ...input, request: withAddresses(input.request, addresses), inlineFiles };
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

/** Returns null if the generator can read no link of this file. */
async function linkOf(
  { storage, settings: { publicUrl, dangerouslyAllowProviderHosts } }: Sources,
  { key, linkToken, contentType }: FileRow,
  { plan, createdAt }: RequestedJob,
): Promise<string | null> {
  const type = contentType ?? '';
  // The link is valid until the deadline of the task. A repeated create has the same link, because a
  // provider may refuse a known idempotency key with another body.
  const seconds = Math.min(plan.expiresAfterSeconds, presignedSecondsMax);
  const presigned = await storage.presigned(key, { seconds, contentType: type, from: createdAt });
  if (presigned && isReachable(presigned, dangerouslyAllowProviderHosts)) return presigned;
  return isReachable(publicUrl, dangerouslyAllowProviderHosts)
    ? fileLink(publicUrl, linkToken, type)
    : null;
}

function inlineFileOf({ storage }: Sources, { id, key, length }: FileRow): InlineFile {
  const open = async () => {
    const bytes = await storage.read(key);
    if (!bytes) throw new Error(`The storage has no object of the file ${id}.`);
    return bytes as AsyncIterable<Uint8Array>;
  };
  return { mark: randomBytes(16).toString('hex'), bytes: length ?? 0, open };
}

const goneWords: Readonly<Record<RemovedBecause, string>> = {
  expired: 'expired',
  caller: 'was deleted',
  operator: 'was removed by the operator',
};

/** The fault of a create whose input was removed. */
export function inputGone(because: RemovedBecause): UpstreamFault {
  const sentence = `An input file ${goneWords[because]} before it was sent to the generator.`;
  return new UpstreamFault('caller', 'input_removed', sentence);
}
