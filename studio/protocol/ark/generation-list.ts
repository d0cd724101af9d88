/*
 * The list call, with filters and pages. The newest job comes first. An empty parameter counts as
 * absent.
 */

import type { GenerationJob, Job } from '../../jobs/job';
import { JOB_STATUSES } from '../../jobs/job';
import type { Jobs } from '../../jobs/job-records';
import { invalid } from '../../protocol-error';

export function findListed(
  jobs: Jobs,
  query: URLSearchParams,
): { page: GenerationJob[]; total: number } {
  const status = query.get('filter.status');
  if (status && !JOB_STATUSES.some((known) => known === status)) {
    throw invalid('filter.status', `it must be one of ${JOB_STATUSES.join(', ')}`);
  }
  const model = query.get('filter.model');
  const ids = new Set(query.getAll('filter.task_ids').filter((id) => id !== ''));
  const size = pageNumber(query, 'page_size', 10);
  const end = pageNumber(query, 'page_num', 1) * size;
  const isListed = (job: Job): job is GenerationJob =>
    isTask(job) &&
    (!status || status === job.status) &&
    (!model || model === job.request.model) &&
    (ids.size === 0 || ids.has(job.id));
  const found = [...jobs.values()].reverse().filter(isListed);
  return { page: found.slice(end - size, end), total: found.length };
}

/** The other protocols give their jobs other ids. */
export function isTask(job: Job | undefined): job is GenerationJob {
  return job?.kind === 'generation' && job.id.startsWith('cgt-');
}

function pageNumber(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name);
  if (text === null || text === '') return absent;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 500) return Number(text);
  throw invalid(name, 'it must be an integer from 1 to 500');
}
