// Looks for the job of a lost create in the list of videos. Servers forget videos, so a list never
// proves that there is no job. A video is evidence of our job if it shows our prompt, and if
// nothing that it shows differs from our create.

import type { JobInput } from '../../../src/domain/job';
import type { JobListing, ListedJob } from '../../../src/domain/lost-job';
import { field, type UpstreamAnswer, unixSecondsOf, upstreamIdOf } from '../http-exchange';
import type { ListWindow } from '../provider';
import { classifyFault } from './faults';
import { secondsOf } from './readings';

const pageSize = 100;
const pagesMax = 20;

/** Reads pages, newest first, back to the beginning of the window. */
export async function listEvidence(
  readPage: (query: URLSearchParams) => Promise<UpstreamAnswer>,
  { plan }: JobInput,
  window: ListWindow,
): Promise<JobListing> {
  const { sinceMs, nowMs } = window;
  const jobs = new Map<string, ListedJob>();
  let behindMs = 0;
  let after: string | null = null;
  for (let page = 1; page <= pagesMax; page += 1) {
    const query = new URLSearchParams({ limit: String(pageSize), order: 'desc' });
    if (after !== null) query.set('after', after);
    const answer = await readPage(query);
    behindMs = Math.max(behindMs, nowMs - (answer.dateMs ?? nowMs));
    const videos = videosIn(answer);
    let oldestMs = nowMs;
    for (const video of videos) {
      const id = upstreamIdOf(field(video, 'id'));
      const createdAt = unixSecondsOf(field(video, 'created_at'));
      const createdAtMs = createdAt === null ? null : createdAt * 1000;
      if (createdAtMs !== null) oldestMs = Math.min(oldestMs, createdAtMs);
      const hasOurPrompt = looksOurs(video, plan, window);
      const seen = { seed: null, hasOurPrompt, createdAtMs, differs: false };
      if (id) jobs.set(id, { upstreamId: id, ...seen });
    }
    const last = upstreamIdOf(field(videos.at(-1), 'id'));
    const isLast = field(answer.json, 'has_more') !== true || last === null || last === after;
    if (isLast || oldestMs < sinceMs - behindMs) break;
    after = last;
  }
  return { jobs: [...jobs.values()], sinceMs: sinceMs - behindMs, isComplete: false };
}

function videosIn(answer: UpstreamAnswer): readonly unknown[] {
  const data = field(answer.json, 'data');
  if (answer.status === 200 && Array.isArray(data)) return data as unknown[];
  throw classifyFault(answer);
}

/** The prompt must be shown. The other values may be absent, because some servers show fewer. */
function looksOurs(
  video: unknown,
  plan: JobInput['plan'],
  { prompt, upstreamModel }: ListWindow,
): boolean {
  const isAsSent = (name: string, fits: (shown: unknown) => boolean) => {
    const shown = field(video, name) ?? null;
    return shown === null || fits(shown);
  };
  return (
    !!prompt &&
    field(video, 'prompt') === prompt &&
    isAsSent('size', (size) => size === `${plan.width}x${plan.height}`) &&
    isAsSent('seconds', (seconds) => secondsOf(seconds) === plan.durationSeconds) &&
    isAsSent('model', (model) => upstreamModel === undefined || model === upstreamModel)
  );
}
