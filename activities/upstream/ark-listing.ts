// Reads an Ark list page by page, as far back as a lost job can be, and reports whether a job can
// have been missed. If pages shifted, were limited or came out of order, the listing counts as
// incomplete and does not prove that a job is absent.

import type { JobListing, ListedJob } from '../../src/domain/lost-job';
import { field, numberOf } from './http-exchange';
import { UpstreamFault } from './provider';

// The largest page of the protocol: jobs that fit on one page cannot shift to another.
const pageSize = 500;
// 25,000 jobs; a longer listing is incomplete.
const pagesMax = 50;
// A provider with several machines may list jobs of the same minute in any order.
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
    // New jobs push others to later pages, where they are read twice. Only if the list became
    // shorter can a job have moved to a page that was read before.
    const total = numberOf(field(answer, 'total')) ?? -1;
    if (total < lastTotal) hasShifted = true;
    lastTotal = total;
    for (const [index, item] of items.entries()) {
      const job = describe(item);
      const key = job.upstreamId ?? `${page}:${index}`;
      if (!jobs.has(key)) {
        const { createdAtMs } = job;
        // A very new job may not show its creation time yet.
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
    // Jobs created at about the same time do not show the order of the list.
    const descends = isInOrder && newestMs - oldestMs > listingSlackMs;
    if (descends && oldestMs < since() - listingSlackMs) return listing(isSound);
    // A provider may limit the page size below the requested one; later pages use its size.
    if (page === 1) size = Math.min(size, items.length);
  }
  return listing(false);
}

export function itemsOf(page: unknown): readonly unknown[] {
  const items = field(page, 'items');
  if (!Array.isArray(items)) throw new UpstreamFault('unavailable', 'NotAList', '');
  return items as unknown[];
}
