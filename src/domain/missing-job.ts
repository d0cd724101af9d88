// Rules for a job that is missing from its provider's list. Such a job is read individually. If
// that read also finds nothing, the list may lag, a key or an address may be wrong, or the job is
// gone.

interface MissingJob {
  /** Seconds since the provider first answered 404 for the job; null if it never did. */
  readonly missingSeconds: number | null;
  /** True if the job was already reported as gone and no longer has a slot. */
  readonly isGone: boolean;
}

interface GoneRules {
  readonly listLagMs: number;
  /** The task of a gone job ends this many seconds after the first 404 for the job. */
  readonly endAfterSeconds: number;
  /**
   * True if the provider still lists another job of this channel. If the provider lists no other
   * job, the channel's key or address is probably wrong. A missing job then does not end its task.
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
