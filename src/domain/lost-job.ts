// Decides whether a provider's list shows the job of a create that was not answered. The list
// echoes neither our request id nor our task, so a job is recognised by its seed. It counts as
// absent only if every listed job is known to be another's; otherwise the question stays open.

/** One job as a provider lists it. */
export interface ListedJob {
  /** Null if the provider sent none, or one that is not readable. */
  readonly upstreamId: string | null;
  readonly seed: number | null;
  readonly createdAtMs: number | null;
  /** True if it echoes a parameter that differs from the one sent. */
  readonly differs: boolean;
}

export interface JobListing {
  readonly jobs: readonly ListedJob[];
  /** True if the list cannot have missed a job of that time. */
  readonly isComplete: boolean;
  /** Its beginning, by the provider's clock: the create cannot have arrived before. */
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
  /** A later list may show it. */
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
  // A provider may draw seeds of its own. Then another seed does not say that a job is not ours.
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
