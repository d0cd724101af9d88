// Reads the list of tasks around the time of a create. The list shows states and times, but neither
// prompts nor seeds. So a job can only be found by elimination, in an account of our own.

import type { JobListing, ListedJob } from '../../../src/domain/lost-job';
import { field, numberOf, upstreamIdOf } from '../http-exchange';
import type { ListWindow } from '../provider';
import { UpstreamFault } from '../provider';

const pageSize = 100;
// 100 pages contain 10,000 tasks. A longer list is read only in part, so the listing is incomplete.
const pagesMax = 100;
// The provider does not say in which zone it reads the times of a request. So the period is a day,
// the longest that is allowed: from UTC-7 to UTC+8 it contains the hour before `sinceMs`, and the hours after.
const zonesMs = 8 * 3_600_000;

type ReadPage = (
  query: URLSearchParams,
) => Promise<{ readonly list: unknown; readonly dateMs: number | null }>;

export async function readListing(
  readPage: ReadPage,
  { sinceMs, nowMs, upstreamModel }: ListWindow,
): Promise<JobListing> {
  const jobs = new Map<string, ListedJob>();
  // If the header `Date` shows that the provider's clock is behind, its jobs seem older.
  let behindMs = 0;
  const listing = (isComplete: boolean) => ({
    jobs: [...jobs.values()],
    isComplete,
    sinceMs: sinceMs - behindMs,
    isOurAccount: true,
  });
  let lastTotal = 0;
  for (let page = 1; page <= pagesMax; page += 1) {
    const query = new URLSearchParams({
      start_time: stampOf(sinceMs - zonesMs),
      end_time: stampOf(sinceMs + 2 * zonesMs),
      ...(upstreamModel === undefined ? {} : { model_name: upstreamModel }),
      page_no: String(page),
      page_size: String(pageSize),
    });
    const { list, dateMs } = await readPage(query);
    behindMs = Math.max(behindMs, nowMs - (dateMs ?? nowMs));
    const items = field(list, 'data');
    const total = numberOf(field(list, 'total')) ?? -1;
    if (!Array.isArray(items)) throw new UpstreamFault('unavailable', 'NotAList', '');
    for (const [index, item] of items.entries()) {
      const job = listedJobOf(item);
      jobs.set(job.upstreamId ?? `${page}:${index}`, job);
    }
    // If the list became shorter, a job may have moved to a page that was already read.
    if (total < lastTotal) return listing(false);
    lastTotal = total;
    if (jobs.size >= total && total >= 0) return listing(true);
    if (items.length === 0) return listing(false);
  }
  return listing(false);
}

function listedJobOf(item: unknown): ListedJob {
  return {
    upstreamId: upstreamIdOf(field(item, 'task_id')),
    seed: null,
    createdAtMs: numberOf(field(item, 'gmt_create')),
    differs: false,
  };
}

/** A time such as 20260420235959. */
function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14);
}
