// Rules for a job that is absent from its provider's list and unknown when it is read individually.
// Either the list lags, or a key or an address is wrong, or the provider has lost the job.

interface UnknownJob {
  /** Seconds since the channel accepted the job. */
  readonly ageSeconds: number;
  /** Seconds since the provider has not known the job; null if the job is not missing yet. */
  readonly missingSeconds: number | null;
}

// After this time the task of a missing job ends.
const endAfterSeconds = 3_600;

interface MissingRules {
  readonly listLagMs: number;
  /**
   * True if the provider still lists another job of this channel. If the provider lists no other
   * job, the channel's key or address is probably wrong. A missing job then does not end its task.
   */
  readonly knowsOthers: boolean;
}

export function nextStepOf(
  { ageSeconds, missingSeconds }: UnknownJob,
  { listLagMs, knowsOthers }: MissingRules,
): 'wait' | 'store as missing' | 'end the task' {
  if (missingSeconds === null) {
    return ageSeconds * 1000 < listLagMs ? 'wait' : 'store as missing';
  }
  return knowsOthers && missingSeconds >= endAfterSeconds ? 'end the task' : 'wait';
}
