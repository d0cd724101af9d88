// Decides whether a provider's list shows the job of a create that was not answered. A job is
// recognised by a name that we gave it, by its seed, or by its prompt. If the list shows none of
// these, the job is the only one without an owner, but only in an account in which nobody else makes jobs. The job counts
// as absent only if every listed job certainly belongs to another task. Otherwise the result is
// unclear.

/** One job as a provider lists it. */
export interface ListedJob {
  /** Null if the provider sent no id or an unreadable id. */
  readonly upstreamId: string | null;
  readonly seed: number | null;
  /** True if the list shows prompts, and the job has the prompt of our create. */
  readonly hasOurPrompt?: boolean;
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
  /** True if nobody else makes jobs in this account, so that a job without an owner is a lost one. */
  readonly isOurAccount?: boolean;
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

/** What shows that a listed job is ours. */
type Evidence = 'name' | 'seed' | 'prompt' | 'elimination';

type Found =
  | Exclude<LostJob, { found: 'one' }>
  | { readonly found: 'one'; readonly upstreamId: string; readonly by: Evidence };

export function findInListing(
  listing: JobListing,
  owners: ReadonlyMap<string, JobOwner>,
  lost: Lost,
): Found {
  const ownerOf = ({ upstreamId }: ListedJob) => owners.get(upstreamId ?? '');
  const strangers = listing.jobs.filter(
    (job) => job.isOurs !== false && (ownerOf(job)?.taskId ?? lost.taskId) === lost.taskId,
  );
  const named = strangers.filter(({ isOurs }) => isOurs);
  if (named.length > 0) return theOnly(named, 'name');
  const known = listing.jobs.flatMap((job) => {
    const owner = ownerOf(job);
    return owner?.upstreamModel === lost.upstreamModel ? [{ job, owner }] : [];
  });
  return listing.isOurAccount
    ? findByElimination(listing, strangers)
    : findByContent(listing, strangers, known, lost);
}

function isOld({ createdAtMs }: ListedJob, { sinceMs }: JobListing): boolean {
  return createdAtMs !== null && createdAtMs < sinceMs;
}

function findByElimination(listing: JobListing, strangers: readonly ListedJob[]): Found {
  if (!listing.isComplete) return unclear('the list could not be read as a whole');
  const candidates = strangers.filter((job) => !isOld(job, listing));
  return candidates.length > 0 ? theOnly(candidates, 'elimination') : { found: 'none' };
}

function findByContent(
  listing: JobListing,
  strangers: readonly ListedJob[],
  known: readonly { readonly job: ListedJob; readonly owner: JobOwner }[],
  lost: Lost,
): Found {
  const ours = strangers.filter((job) => job.hasOurPrompt || job.seed === lost.seed);
  if (ours.some((job) => isOld(job, listing))) return unclear('an older job looks the same');
  const [first] = ours;
  if (first) return theOnly(ours, first.hasOurPrompt ? 'prompt' : 'seed');
  if (!listing.isComplete) return unclear('the list could not be read as a whole');
  const candidates = strangers.filter((job) => !isOld(job, listing));
  if (candidates.some(({ seed }) => seed === null)) return unclear('a job does not show its seed');
  // A provider may replace our seeds by seeds of its own. A job with another seed may then still be
  // ours.
  const echoesSeeds =
    known.length > 0 &&
    known.every(({ job, owner }) => job.seed === null || job.seed === owner.seed);
  if (candidates.length > 0 && !echoesSeeds)
    return unclear('no known job shows the seed it was sent');
  return { found: 'none' };
}

function theOnly([job, another]: readonly ListedJob[], by: Evidence): Found {
  if (another) return unclear(`several jobs can be ours by ${by}`);
  if (job?.differs) return unclear('the job has other parameters');
  if (!job?.upstreamId) return unclear('its job is listed without a readable id');
  return { found: 'one', upstreamId: job.upstreamId, by };
}

function unclear(why: string): Found {
  return { found: 'unclear', why };
}
