/* The list call, with filters and pages. The newest task comes first. */

import type { Job } from '../../jobs/job';
import { JOB_STATUSES } from '../../jobs/job';
import { invalid } from '../../protocol-error';
import { modelOf, taskTypeOf } from './view';

export function pageOf(oldestFirst: readonly Job[], query: URLSearchParams) {
  const status = query.get('filter.status');
  if (status && !JOB_STATUSES.some((known) => known === status)) {
    throw invalid('filter.status', `it must be one of ${JOB_STATUSES.join(', ')}`);
  }
  const model = query.get('filter.model');
  const type = query.get('filter.task_type');
  const ids = query.getAll('filter.task_ids').filter(Boolean);
  const size = numberIn(query, 'page_size', 10, 100);
  const end = numberIn(query, 'page_num', 1, 10_000) * size;
  const found = oldestFirst
    .filter(
      (job) =>
        (!status || status === job.status) &&
        (!model || model === modelOf(job)) &&
        (!type || type === taskTypeOf(job)) &&
        (ids.length === 0 || ids.includes(job.id)),
    )
    .toReversed();
  return { items: found.slice(end - size, end), total: found.length };
}

function numberIn(query: URLSearchParams, name: string, absent: number, max: number): number {
  const text = query.get(name);
  if (!text) return absent;
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text);
  throw invalid(name, `it must be an integer from 1 to ${max}`);
}
