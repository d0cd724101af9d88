// Decides whether a provider's list shows the job of a create that was not answered. The list
// contains neither our request id nor our task id, so a job is recognised by its seed. The job
// counts as absent only if every listed job certainly belongs to another task. Otherwise the result
// is unclear.

/** One job as a provider lists it. */
export interface ListedJob {
  /** Null if the provider sent no id or an unreadable id. */
  readonly upstreamId: string | null;
  readonly seed: number | null;
  readonly createdAtMs: number | null;
  /** True if the list shows a parameter of the job that differs from ours. */
  readonly differs: boolean;
}

export interface JobListing {
  readonly jobs: readonly ListedJob[];
  /** True if the list certainly contains every job since `sinceMs`. */
  readonly isComplete: boolean;
  /**
   * The start of the listed period, by the provider's clock. Our create cannot have arrived
   * earlier.
   */
  readonly sinceMs: number;
}

/** The task that a listed job is known to belong to. */
export interface JobOwner {
  readonly taskId: string;
  readonly upstreamModel: string;
  readonly seed: number | null;
}

interface Lost {
  readonly taskId: string;
  readonly upstreamModel: string;
  readonly seed: number;
}

export type LostJob =
  | { readonly found: 'one'; readonly upstreamId: string }
  | { readonly found: 'none' }
  /** It is not certain whether the provider has the job. A later list may show this. */
  | { readonly found: 'unclear'; readonly why: string };

export function findInListing(
  { jobs, isComplete, sinceMs }: JobListing,
  owners: ReadonlyMap<string, JobOwner>,
  lost: Lost,
): LostJob {
  const ownerOf = ({ upstreamId }: ListedJob) => owners.get(upstreamId ?? '');
  const strangers = jobs.filter((job) => (ownerOf(job)?.taskId ?? lost.taskId) === lost.taskId);
  const isOld = ({ createdAtMs }: ListedJob) => createdAtMs !== null && createdAtMs < sinceMs;
  const [ours, another] = strangers.filter((job) => job.seed === lost.seed);
  if (another) return unclear('several jobs carry its seed');
  if (ours?.differs) return unclear('a job carries its seed and other parameters');
  if (ours && isOld(ours)) return unclear('an older job carries its seed');
  if (ours)
    return ours.upstreamId
      ? one(ours.upstreamId)
      : unclear('its job is listed without a readable id');
  if (!isComplete) return unclear('the list could not be read as a whole');
  const candidates = strangers.filter((job) => !isOld(job));
  if (candidates.some(({ seed }) => seed === null)) return unclear('a job does not show its seed');
  const known = jobs.flatMap((job) => {
    const owner = ownerOf(job);
    return owner?.upstreamModel === lost.upstreamModel ? [{ job, owner }] : [];
  });
  // A provider may replace our seeds by seeds of its own. A job with another seed may then still be
  // ours.
  const echoesSeeds =
    known.length > 0 &&
    known.every(({ job, owner }) => job.seed === null || job.seed === owner.seed);
  if (candidates.length > 0 && !echoesSeeds)
    return unclear('no known job shows the seed it was sent');
  return { found: 'none' };
}

function one(upstreamId: string): LostJob {
  return { found: 'one', upstreamId };
}

function unclear(why: string): LostJob {
  return { found: 'unclear', why };
}
