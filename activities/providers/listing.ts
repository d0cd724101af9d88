// Reads a list of pages with the newest job first, for protocols that count pages and jobs. Looks
// for a lost job page by page, back to the earliest time at which the job can have been created. The listing is complete only if no such job can be missing. The listing is incomplete if
// jobs moved between pages, if jobs were out of order, or if there were too many jobs. An
// incomplete listing does not prove that a job is absent.

import type { JobListing, ListedJob } from '../../src/jobs/lost-job.rules';
import { field, numberOf, upstreamIdOf } from './http-exchange';
import type { JobReading, TakeReadings } from './provider';
import { UpstreamFault } from './provider';

// A longer list is read only in part, so the listing is incomplete.
const pagesMax = 50;
// If a provider has several machines, jobs of the same minute may be listed in any order.
const listingSlackMs = 60_000;

type ReadPage = (page: number, size: number, ids?: readonly string[]) => Promise<unknown>;

/**
 * Reads the list. `size` is the size of the first page. If all jobs are on one page, no job can move
 * to another page, so the page is as large as the provider allows.
 */
export async function readListing(
  readPage: ReadPage,
  pageSize: number,
  since: () => number,
  describe: (item: unknown) => ListedJob,
): Promise<JobListing> {
  const jobs = new Map<string, ListedJob>();
  let size = pageSize;
  let newestMs = Number.NEGATIVE_INFINITY;
  let oldestMs = Number.POSITIVE_INFINITY;
  let isNewestFirst = true;
  let lastTotal = 0;
  let hasShifted = false;
  const listing = (isComplete: boolean) => ({
    jobs: [...jobs.values()],
    isComplete,
    sinceMs: since(),
  });

  for (let page = 1; page <= pagesMax; page += 1) {
    const answer = await readPage(page, size);
    const items = itemsOf(answer);
    // New jobs move other jobs to later pages, so some jobs are read twice. A job can move to a
    // page that was already read only if the list becomes shorter.
    const total = numberOf(field(answer, 'total')) ?? -1;
    if (total < lastTotal) hasShifted = true;
    lastTotal = total;
    for (const [index, item] of items.entries()) {
      const job = describe(item);
      const key = job.upstreamId ?? `${page}:${index}`;
      if (!jobs.has(key)) {
        const { createdAtMs } = job;
        // A very new job may have no creation time yet. A missing time is accepted only near the
        // start of the list.
        if (createdAtMs === null) isNewestFirst &&= newestMs - oldestMs <= listingSlackMs;
        else if (createdAtMs > oldestMs + listingSlackMs) isNewestFirst = false;
        else {
          newestMs = Math.max(newestMs, createdAtMs);
          oldestMs = Math.min(oldestMs, createdAtMs);
        }
      }
      jobs.set(key, job);
    }
    const isInOrder = isNewestFirst && newestMs >= oldestMs;
    const isSound = !hasShifted && (page === 1 || isInOrder);
    const isWhole = total >= 0 && jobs.size >= total;
    if (isWhole || items.length === 0) return listing(isSound && isWhole);
    // If all jobs were created at about the same time, they do not show that the list is sorted.
    const descends = isInOrder && newestMs - oldestMs > listingSlackMs;
    if (descends && oldestMs < since() - listingSlackMs) return listing(isSound);
    // A provider may send fewer jobs per page than requested. Then later pages are requested with
    // the size of the first page.
    if (page === 1) size = Math.min(size, items.length);
  }
  return listing(false);
}

function itemsOf(page: unknown): readonly unknown[] {
  const items = field(page, 'items');
  if (!Array.isArray(items)) throw new UpstreamFault('unavailable', 'NotAList', '');
  return items as unknown[];
}

/**
 * Reads these jobs from the list. If a page contains only some of them, the others are requested
 * again.
 */
export async function readListed(
  upstreamIds: readonly string[],
  readPage: ReadPage,
  readingOf: (item: unknown) => JobReading,
  take: TakeReadings,
): Promise<void> {
  let missing = upstreamIds;
  while (missing.length > 0) {
    const page = await readPage(1, missing.length, missing);
    const items = itemsOf(page);
    const readings = new Map<string, JobReading>();
    for (const item of items) {
      const id = upstreamIdOf(field(item, 'id'));
      if (id) readings.set(id, readingOf(item));
    }
    await take(readings);
    const left = missing.filter((id) => !readings.has(id));
    const isCapped = (numberOf(field(page, 'total')) ?? 0) > items.length;
    if (!isCapped || left.length === missing.length) break;
    missing = left;
  }
}
