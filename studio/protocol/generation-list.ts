/* The list call: filters, pages and scripted faults. An empty parameter counts as absent. */

import type { ListFault } from '../jobs/fault-script';
import type { GenerationJob, JobStatus } from '../jobs/job';
import type { JobIndex } from '../jobs/job-records';
import { invalid } from '../protocol-error';

interface ListQuery {
  page: number;
  pageSize: number;
  /** An empty list selects all jobs. */
  ids: string[];
  wants(job: GenerationJob, status: string): boolean;
}

const STATUSES: readonly JobStatus[] = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
];

export function parseListQuery(query: URLSearchParams): ListQuery {
  const status = query.get('filter.status');
  if (status && !STATUSES.some((known) => known === status)) {
    throw invalid('filter.status', `it must be one of ${STATUSES.join(', ')}`);
  }
  const model = query.get('filter.model');
  const fits = (filter: string | null, value: string) => !filter || filter === value;
  return {
    page: pageNumber(query, 'page_num', 1),
    pageSize: pageNumber(query, 'page_size', 10),
    ids: [...new Set(query.getAll('filter.task_ids').filter((id) => id !== ''))],
    wants: ({ request }, word) => fits(status, word) && fits(model, request.model),
  };
}

/** The jobs that are listed by now and match the query, newest first. */
export function findListed(
  jobs: JobIndex,
  { ids, wants }: ListQuery,
  statusOf: (job: GenerationJob) => string,
  now: number,
): GenerationJob[] {
  const found: GenerationJob[] = [];
  for (const job of ids.length > 0 ? jobs.newestAmong(ids) : jobs.newestFirst('generation')) {
    if (job.kind !== 'generation') continue;
    const isListed = now >= job.createdAt + (job.script.listed_after_s ?? 0) * 1000;
    if (isListed && wants(job, statusOf(job))) found.push(job);
  }
  return found;
}

export function pageOf(found: GenerationJob[], query: ListQuery, fault: ListFault) {
  const size = Math.min(query.pageSize, fault.items_max ?? query.pageSize);
  const start = Math.max(0, (query.page - 1) * (size + (fault.page_shift ?? 0)));
  return inOrder(found, fault.order).slice(start, start + size);
}

/** The item without the fields that `field_every_s` still holds back. */
export function withoutLateFields(item: object, ageMs: number, { field_every_s }: ListFault) {
  if (!field_every_s) return item;
  const atOnce = ['id', 'status', 'created_at'];
  const fields = Object.entries(item).filter(([, value]) => value !== undefined);
  const late = fields.filter(([name]) => !atOnce.includes(name));
  const here = late.slice(0, Math.floor(ageMs / 1000 / field_every_s));
  return Object.fromEntries([...fields.filter((field) => !late.includes(field)), ...here]);
}

function inOrder(found: GenerationJob[], order: ListFault['order']): GenerationJob[] {
  if (order === 'oldest') return found.toReversed();
  // The end of an id is random, so sorting by it shuffles, the same way each time.
  const letters = (job: GenerationJob) => job.id.slice(-5);
  if (order === 'shuffled') {
    return found.toSorted((a, b) => letters(a).localeCompare(letters(b)));
  }
  return found;
}

function pageNumber(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name);
  if (text === null || text === '') return absent;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 500) return Number(text);
  throw invalid(name, 'it must be an integer from 1 to 500');
}
