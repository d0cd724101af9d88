// What the answer to a create proves, and what follows. A provider's client classifies each answer
// of its protocol as a kind of fault (docs/generators.md, "Faults of a create"). The answer to a
// repeated create proves nothing about the first create: the first may have been accepted even if
// the provider refuses its repetition.

export type FaultKind =
  /** The caller's input was refused. The task ends, and no other channel is tried. */
  | 'caller'
  /**
   * A fault of our account or of our settings at the provider. Another channel may do the job, and
   * an operator must act.
   */
  | 'operator'
  /** The job was certainly not accepted, because the provider could not be reached or was down. */
  | 'unavailable'
  /**
   * The job was certainly not accepted, because the provider has too many requests at the moment.
   */
  | 'busy'
  /** It is not certain whether the job was accepted, for example because the answer was lost. */
  | 'ambiguous'
  /** The provider has no job with the requested id. */
  | 'not_found'
  /**
   * This process did not send the whole request, because it was paused for too long, could not read
   * a file, or did not get the bytes of a file through in time.
   */
  | 'late';

export type AfterCreate =
  /** The channel has no job. The task fails with the reason of the refusal. */
  | 'fail the task'
  /** The channel has no job. */
  | 'try the next channel'
  /** The channel has no job. The same channel may be tried again. */
  | 'send it again'
  /** It is not known whether the channel has the job. The next attempt finds out. */
  | 'resolve it later'
  /** It is not known whether the channel has the job, and a repetition does not tell. */
  | 'look the job up';

const afterFirst: Readonly<Record<FaultKind, AfterCreate>> = {
  caller: 'fail the task',
  operator: 'try the next channel',
  unavailable: 'try the next channel',
  busy: 'try the next channel',
  not_found: 'try the next channel',
  late: 'send it again',
  ambiguous: 'resolve it later',
};

const afterRepeat: Readonly<Record<FaultKind, AfterCreate>> = {
  caller: 'look the job up',
  operator: 'resolve it later',
  unavailable: 'resolve it later',
  busy: 'resolve it later',
  not_found: 'resolve it later',
  late: 'resolve it later',
  ambiguous: 'resolve it later',
};

export function afterCreate(fault: FaultKind, isRepeat: boolean): AfterCreate {
  return (isRepeat ? afterRepeat : afterFirst)[fault];
}
