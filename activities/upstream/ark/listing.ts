// Reads an Ark list page by page, back to the earliest time at which a lost job can have been
// created. The listing is complete only if no such job can be missing. The listing is incomplete if
// jobs moved between pages, if jobs were out of order, or if there were too many jobs. An
// incomplete listing does not prove that a job is absent.

import type { JobListing, ListedJob } from '../../../src/domain/lost-job';
import { field, numberOf } from '../http-exchange';
import { UpstreamFault } from '../provider';

// The largest page size of the protocol. If all jobs are on one page, no job can move to another
// page.
const pageSize = 500;
// 50 pages contain 25,000 jobs. A longer list is read only in part, so the listing is incomplete.
const pagesMax = 50;
// If a provider has several machines, jobs of the same minute may be listed in any order.
const listingSlackMs = 60_000;

type ReadPage = (page: number, size: number) => Promise<unknown>;

export async function readListing(
  readPage: ReadPage,
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

export function itemsOf(page: unknown): readonly unknown[] {
  const items = field(page, 'items');
  if (!Array.isArray(items)) throw new UpstreamFault('unavailable', 'NotAList', '');
  return items as unknown[];
}
