/*
 * Keeps all jobs in memory and in the journal. The list of acceptances also contains jobs whose
 * records were deleted. With this list a test proves that a task was accepted exactly once.
 */

import type { Log } from '../http';
import type { Job, JobKind } from './job';
import { openJournal, readJournal } from './journal';

interface Acceptance {
  id: string;
  kind: JobKind;
  /** The time of acceptance, in milliseconds since 1970. */
  at: number;
  client_request_id: string | null;
  idempotency_key: string | null;
}

type Line =
  | { put: Job; accepted?: Acceptance }
  | { change: Partial<Job>; id: string }
  | { forget: string }
  | { accepted: Acceptance };

export type JobRecords = ReturnType<typeof openJobRecords>;
export type Jobs = ReadonlyMap<string, Job>;

/**
 * The record of a job is deleted after at most seven days. Acceptances are also kept for seven
 * days.
 */
const SEVEN_DAYS_MS = 7 * 86_400_000;

export function openJobRecords(dataDir: string, log: Log) {
  /** The jobs by their ids, in the order of acceptance. */
  const jobs = new Map<string, Job>();
  const acceptances: Acceptance[] = [];
  for (const line of readJournal(dataDir)) replay(line as Line, jobs, acceptances);
  const journal = openJournal(dataDir, linesToKeep(jobs, acceptances));

  /** Stores a new job. If the journal cannot be written, throws, and the job is not accepted. */
  function put(job: Job): void {
    const accepted = {
      id: job.id,
      kind: job.kind,
      at: job.createdAt,
      client_request_id: job.clientRequestId ?? null,
      idempotency_key: job.idempotencyKey ?? null,
    };
    journal.append({ put: job, accepted });
    jobs.set(job.id, job);
    acceptances.push(accepted);
    const oldestMs = Date.now() - SEVEN_DAYS_MS;
    while ((acceptances[0]?.at ?? oldestMs) < oldestMs) acceptances.shift();
  }

  function change(job: Job, fields: Partial<Job>): void {
    Object.assign(job, fields);
    write({ id: job.id, change: fields });
  }

  function forget(job: Job): void {
    write({ forget: job.id });
    jobs.delete(job.id);
  }

  /**
   * Never throws. If the disk is full, the change is kept in memory only and the failure is logged.
   */
  function write(line: Line): void {
    try {
      journal.append(line);
    } catch (error) {
      log.error({ error: String(error) }, 'studio: the journal cannot be written');
    }
  }

  const lists = { jobs, acceptances: acceptances as readonly Acceptance[] };
  return { ...lists, put, change, forget, close: () => journal.close() };
}

/** Applies one line of the journal to `jobs` and `acceptances`. */
function replay(line: Line, jobs: Map<string, Job>, acceptances: Acceptance[]): void {
  if ('put' in line) jobs.set(line.put.id, line.put);
  if ('accepted' in line && line.accepted) acceptances.push(line.accepted);
  if ('change' in line) {
    const job = jobs.get(line.id);
    if (job) Object.assign(job, line.change);
  }
  if ('forget' in line) jobs.delete(line.forget);
}

/** Returns the lines that the next start needs: recent acceptances and the record of each job. */
function* linesToKeep(jobs: Jobs, acceptances: readonly Acceptance[]): Generator<Line> {
  const oldest = Date.now() - SEVEN_DAYS_MS;
  for (const accepted of acceptances) if (accepted.at >= oldest) yield { accepted };
  for (const job of jobs.values()) yield { put: job };
}
