// Rules for a job that is missing from its provider's list. Such a job is read individually. If
// that read also finds nothing, the list may lag, a key or an address may be wrong, or the job is
// gone.

interface MissingJob {
  /** Seconds since the provider first answered 404 for the job; null if it never did. */
  readonly missingSeconds: number | null;
  /** True if the job was reported as gone and has no slot any more. */
  readonly isGone: boolean;
}

interface GoneRules {
  readonly listLagMs: number;
  /** The task of a gone job ends after this time. */
  readonly endAfterSeconds: number;
  /**
   * True if the provider still lists another job of this channel. If it lists none, the channel's
   * key or address is probably wrong, and no task ends for that reason.
   */
  readonly knowsOthers: boolean;
}

export function nextStepOf(
  { missingSeconds, isGone }: MissingJob,
  { listLagMs, endAfterSeconds, knowsOthers }: GoneRules,
): 'wait' | 'report as gone' | 'end the task' {
  if (missingSeconds === null || missingSeconds * 1000 < listLagMs) return 'wait';
  if (!isGone) return 'report as gone';
  return knowsOthers && missingSeconds >= endAfterSeconds ? 'end the task' : 'wait';
}
