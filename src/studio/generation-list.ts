/*
 * What a list call asks for: a page, and filters by status, model, tier or ids. A parameter that is
 * empty counts as absent.
 */

import type { GenerationJob, JobStatus } from './jobs';
import { invalid } from './protocol-error';

interface ListQuery {
  /** How many come before the page. */
  offset: number;
  pageSize: number;
  /** Empty: all there are. */
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
  const page = pageNumber(query, 'page_num', 1);
  const pageSize = pageNumber(query, 'page_size', 10);
  const status = query.get('filter.status');
  if (status && !STATUSES.some((known) => known === status)) {
    throw invalid('filter.status', `it must be one of ${STATUSES.join(', ')}`);
  }
  const model = query.get('filter.model');
  const tier = query.get('filter.service_tier');
  const fits = (filter: string | null, value: string) => !filter || filter === value;
  return {
    offset: (page - 1) * pageSize,
    pageSize,
    ids: [...new Set(query.getAll('filter.task_ids').filter((id) => id !== ''))],
    wants: ({ order }, word) =>
      fits(status, word) && fits(model, order.model) && fits(tier, order.serviceTier),
  };
}

function pageNumber(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name);
  if (text === null || text === '') return absent;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 500) return Number(text);
  throw invalid(name, 'it must be an integer from 1 to 500');
}
