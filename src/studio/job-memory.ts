/*
 * Every job there is, in memory and in the journal at once, and the list of everything that was
 * ever accepted: the proof that a caller's task was accepted exactly once, whatever became of it.
 */

import type { Log } from './http';
import type { JobIndex } from './job-index';
import { createJobIndex } from './job-index';
import type { Job, JobKind } from './jobs';
import { openJournal } from './journal';

interface Acceptance {
  id: string;
  kind: JobKind;
  /** Milliseconds since 1970. */
  at: number;
  model: string;
  client_request_id: string | null;
  idempotency_key: string | null;
}

type Line =
  | { put: Job; accepted?: Acceptance }
  | { change: Partial<Job>; id: string }
  | { forget: string }
  | { accepted: Acceptance };

export type JobMemory = ReturnType<typeof openJobMemory>;

/** Far enough above the live records that rewriting stays rare. */
const STALE_LINES_MAX = 50_000;

/** Acceptances are remembered as long as a record can live. */
const SEVEN_DAYS_MS = 7 * 86_400_000;

export function openJobMemory(dataDir: string, log: Log) {
  const jobs = createJobIndex();
  const acceptances: Acceptance[] = [];
  const journal = openJournal(dataDir, (line) => replay(line as Line, jobs, acceptances));
  if (journal.lineCount() > 0) rewrite();

  /** Throws when it cannot be written: then it has not been accepted. */
  function put(job: Job): void {
    const accepted = describe(job);
    journal.append({ put: job, accepted });
    jobs.add(job);
    acceptances.push(accepted);
  }

  function change(job: Job, fields: Partial<Job>): void {
    Object.assign(job, fields);
    write({ id: job.id, change: fields });
  }

  function forget(job: Job): void {
    write({ forget: job.id });
    jobs.remove(job);
  }

  /** A full disk must not stop the clock: the change is kept in memory and told to the log. */
  function write(line: Line): void {
    try {
      journal.append(line);
    } catch (error) {
      log.error({ error: String(error) }, 'studio: the journal cannot be written');
    }
  }

  function compact(): void {
    const alive = jobs.size() + acceptances.length;
    if (journal.lineCount() > 3 * alive + STALE_LINES_MAX) rewrite();
  }

  /** Without room for it the journal stays as long as it is. */
  function rewrite(): void {
    try {
      journal.rewrite(whatIsLeft(jobs, acceptances));
    } catch (error) {
      log.error({ error: String(error) }, 'studio: the journal cannot be rewritten');
    }
  }

  const lists = { jobs, acceptances: acceptances as readonly Acceptance[] };
  return { ...lists, put, change, forget, compact, close: () => journal.close() };
}

function describe(job: Job): Acceptance {
  return {
    id: job.id,
    kind: job.kind,
    at: job.createdAt,
    model: job.kind === 'generation' ? job.order.model : 'enhance-video',
    client_request_id: job.clientRequestId ?? null,
    idempotency_key: job.idempotencyKey ?? null,
  };
}

/** One line of the past happens again. */
function replay(line: Line, jobs: JobIndex, acceptances: Acceptance[]): void {
  if ('put' in line) jobs.add(line.put);
  if ('accepted' in line && line.accepted) acceptances.push(line.accepted);
  if ('change' in line) {
    const job = jobs.get(line.id);
    if (job) Object.assign(job, line.change);
  }
  if ('forget' in line) {
    const job = jobs.get(line.forget);
    if (job) jobs.remove(job);
  }
}

/** The past without what no longer matters. */
function* whatIsLeft(jobs: JobIndex, acceptances: readonly Acceptance[]): Generator<Line> {
  const oldest = Date.now() - SEVEN_DAYS_MS;
  for (const accepted of acceptances) if (accepted.at >= oldest) yield { accepted };
  for (const job of jobs.all()) yield { put: job };
}
