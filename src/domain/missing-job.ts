// Rules for a job that its provider does not list and that is therefore read by itself. If the
// provider does not know it there either, a list may lag, a key or an address may be wrong, or the
// job is gone.

interface MissingJob {
  /** The time at which the provider first answered 404; null if it never did. */
  readonly missingSeconds: number | null;
  /** It was reported as gone and holds no slot any more. */
  readonly isGone: boolean;
}

interface GoneRules {
  readonly listLagMs: number;
  /** After this time the task of a job that is gone ends. */
  readonly endAfterSeconds: number;
  /**
   * The provider still lists another job of this channel. If it lists none, the channel's key or
   * address is probably wrong, and no task ends because of it.
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
