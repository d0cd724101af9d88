// Decides whether a provider's list shows the job of a create that was not answered. A job is
// recognised by a name that we gave it, or by a seed that this service drew. A seed that the caller
// chose is no evidence, because others choose it too. The job counts as absent only if every listed
// job certainly belongs to another task. Otherwise the result is unclear.

/** One job as a provider lists it. */
export interface ListedJob {
  /** Null if the provider sent no id or an unreadable id. */
  readonly upstreamId: string | null;
  readonly seed: number | null;
  /** Absent or null if the list shows no model. */
  readonly model?: string | null;
  /** Null if the list shows no time, or none that can be true. */
  readonly createdAtMs: number | null;
  /** True if the list shows a parameter of the job that differs from ours. */
  readonly differs: boolean;
  /** Set if the list tells exactly whether the job is ours, for example by our name for it. */
  readonly isOurs?: boolean;
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
  /** Null if the service did not draw the seed of the create. */
  readonly drawnSeed: number | null;
}

export type LostJob =
  | { readonly found: 'one'; readonly upstreamId: string }
  | { readonly found: 'none' }
  /** It is not certain whether the provider has the job. A later list may show this. */
  | { readonly found: 'unclear'; readonly why: string };

export function findInListing(
  listing: JobListing,
  owners: ReadonlyMap<string, JobOwner>,
  lost: Lost,
): LostJob {
  const ownerOf = ({ upstreamId }: ListedJob) => owners.get(upstreamId ?? '');
  const strangers = listing.jobs.filter(
    (job) => job.isOurs !== false && (ownerOf(job)?.taskId ?? lost.taskId) === lost.taskId,
  );
  const named = strangers.filter(({ isOurs }) => isOurs);
  if (named.length > 0) return theOnly(named);
  const known = listing.jobs.flatMap((job) => {
    const owner = ownerOf(job);
    return owner?.upstreamModel === lost.upstreamModel ? [{ job, owner }] : [];
  });
  return findBySeed(listing, strangers, known, lost);
}

function findBySeed(
  listing: JobListing,
  strangers: readonly ListedJob[],
  known: readonly { readonly job: ListedJob; readonly owner: JobOwner }[],
  { drawnSeed, upstreamModel }: Lost,
): LostJob {
  const isOld = ({ createdAtMs }: ListedJob) =>
    createdAtMs !== null && createdAtMs < listing.sinceMs;
  const ours = strangers.filter(({ seed }) => drawnSeed !== null && seed === drawnSeed);
  if (ours.some(isOld)) return unclear('an older job looks the same');
  // A list may show another name for the model than was sent, such as that of an endpoint's model.
  const showsSentModels = known.some(({ job }) => job.model === upstreamModel);
  if (showsSentModels && ours.some(({ model = null }) => model !== null && model !== upstreamModel))
    return unclear('the job has another model');
  if (ours.length > 0) return theOnly(ours);
  if (!listing.isComplete) return unclear('the list cannot prove that there is no job');
  const candidates = strangers.filter((job) => !isOld(job));
  if (candidates.length === 0) return { found: 'none' };
  if (drawnSeed === null) return unclear('a job may be ours, and the seed was not drawn here');
  if (candidates.some(({ seed }) => seed === null)) return unclear('a job does not show its seed');
  // A provider may replace our seeds by seeds of its own. A job with another seed may then still be
  // ours.
  const echoesSeeds =
    known.length > 0 &&
    known.every(({ job, owner }) => job.seed === null || job.seed === owner.seed);
  return echoesSeeds ? { found: 'none' } : unclear('no known job shows the seed it was sent');
}

function theOnly([job, another]: readonly ListedJob[]): LostJob {
  if (another) return unclear('several jobs can be ours');
  if (job?.differs) return unclear('the job has other parameters');
  if (!job?.upstreamId) return unclear('its job is listed without a readable id');
  return { found: 'one', upstreamId: job.upstreamId };
}

function unclear(why: string): LostJob {
  return { found: 'unclear', why };
}
