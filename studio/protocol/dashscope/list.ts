/*
 * The list of tasks. It shows states, but neither links nor prompts. A period of more than a day is
 * refused.
 */

import type { GenerationJob } from '../../jobs/job';
import { invalid } from '../../protocol-error';
import { wordOf } from './view';

const DAY_MS = 86_400_000;

export function listTasks(newestFirst: readonly GenerationJob[], query: URLSearchParams): object {
  const start = momentOf(query, 'start_time') ?? Date.now() - DAY_MS;
  const end = momentOf(query, 'end_time') ?? start + DAY_MS;
  if (end - start > DAY_MS) throw invalid('end_time', 'the period is longer than 24 hours');
  const [page, size] = [numberOf(query, 'page_no', 1), numberOf(query, 'page_size', 10)];
  const [model, status, id] = ['model_name', 'status', 'task_id'].map((name) => query.get(name));
  const found = newestFirst.filter(
    (job) =>
      job.createdAt >= start &&
      job.createdAt <= end + 999 &&
      (!model || model === job.kept?.model) &&
      (!status || status === wordOf(job)) &&
      (!id || id === job.id),
  );
  return {
    total: found.length,
    total_page: Math.ceil(found.length / size),
    page_no: page,
    page_size: size,
    data: found.slice((page - 1) * size, page * size).map(itemOf),
  };
}

function itemOf(job: GenerationJob): object {
  return {
    api_key_id: '1',
    caller_parent_id: '1',
    caller_uid: '1',
    region: 'cn-beijing',
    task_id: job.id,
    request_id: job.kept?.requestId,
    model_name: job.kept?.model,
    status: wordOf(job),
    gmt_create: job.createdAt,
    start_time: job.startedAt,
    end_time: job.finishedAt,
    user_api_unique_key: `apikey:v1:video-generation:video-synthesis:${job.kept?.model}`,
  };
}

function momentOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text);
  if (!parts) throw invalid(name, 'it must be a time such as 20260420000000');
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}+08:00`);
}

function numberOf(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name) ?? String(absent);
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 100) return Number(text);
  throw invalid(name, 'it must be an integer from 1 to 100');
}
