// Makes one attempt to place a job at one of its channels. src/jobs/placing.rules.ts decides each step;
// this file carries the step out and reports what happened.

import { ApplicationFailure } from '@temporalio/activity';
import { assert } from '../../src/assert';
import { closeCancelled } from '../../src/jobs/cancels.rows';
import {
  isFinalReport,
  type JobFailure,
  type JobReport,
  type PlacedJob,
  type RequestedJob,
} from '../../src/jobs/job.rules';
import {
  answeredAfterMs,
  listedAfterMs,
  newJob,
  nextStep,
  type PlacingEvent,
  type PlacingJob,
  type PlacingStep,
  sendWithinMs,
} from '../../src/jobs/placing.rules';
import { hasChannel, type Job } from '../../src/jobs/queries.rows';
import { waitForTurn } from '../../src/jobs/steps.rows';
import type { WorkerDeps } from '../deps';
import { UpstreamFault } from '../providers/provider';
import { attemptWrites } from './attempt-writes';
import { withNewLink } from './base-video';
import { cancelSecond, isTaken } from './cancel-second';
import { type Candidate, candidatesOf, channelsOf } from './candidates';
import { findLostJob } from './find-lost-job';
import { inputGone } from './input-addresses';

type Placing = Pick<WorkerDeps, 'db' | 'channels' | 'events' | 'now' | 'stopping'>;

/** The result of an attempt. `open`: a channel has the job, so the activity waits for its end. */
export type Attempted = PlacedJob | { readonly outcome: 'open' };

/** `began` is the time before the attempt took its lease, by the monotonic clock. */
export async function placeJob(deps: Placing, input: RequestedJob, began: number) {
  const placement = new Placement(deps, input, began);
  for (let event: PlacingEvent = { is: 'begun' }; ; ) {
    const happened = await placement.carryOut(nextStep(placement.job, event));
    if ('outcome' in happened) return happened;
    event = happened;
  }
}

const unresolved: JobFailure = {
  code: 'submission_unknown',
  sentence: 'The task could not be handed to the generator.',
  ours: true,
};

/** One attempt to place a job. */
class Placement {
  /** What this attempt knows of the job. */
  job: PlacingJob;
  private readonly writes: ReturnType<typeof attemptWrites>;
  /** The channels to which this attempt may still offer the job. */
  private left: Candidate[];
  private isFull = false;
  /** The channel of the create. */
  private at: Candidate | undefined;
  /** The time until which the create may be sent, by the monotonic clock. */
  private sendBy = 0;
  /** The time from the create to the deadline of the task. */
  private secondsLeft = 0;
  /** The row, after this attempt has taken the job over. */
  private row: Job | null = null;
  private refusal: UpstreamFault | undefined;

  constructor(
    private readonly deps: Placing,
    private input: RequestedJob,
    private readonly began: number,
  ) {
    this.job = newJob(input);
    this.left = candidatesOf(deps.channels, input);
    this.writes = attemptWrites(deps, input);
  }

  async carryOut(step: PlacingStep): Promise<PlacingEvent | Attempted> {
    const { deps, input } = this;
    switch (step.do) {
      case 'offer':
        return this.offer();
      case 'queue for a slot': {
        const atWorkSeconds = (performance.now() - this.began) / 1_000;
        const isQueued = await waitForTurn(deps.db, input, channelsOf(input), atWorkSeconds);
        return isQueued ? { outcome: 'waiting' } : { is: 'moved' };
      }
      case 'take over':
        return this.takeOver();
      case 'repeat':
      case 'send':
        return this.send();
      case 'renew the link':
        return this.renewLink();
      case 'look up':
        return this.lookUp();
      case 'store':
        return this.store(step.upstreamId);
      case 'release': {
        const isReleased = await this.writes.release();
        return isReleased ? this.carryOut(step.next) : { is: 'superseded' };
      }
      case 'cancel': {
        const { upstreamId } = step;
        const { provider } = this.channel();
        if (!step.closesRow) await cancelSecond(deps, input, provider, upstreamId);
        else if (await isTaken(provider, upstreamId, input))
          await closeCancelled(deps.db, { ...input, upstreamId });
        return this.carryOut(step.next);
      }
      case 'wait for the end':
        return { outcome: 'open' };
      case 'return the end':
        assert(this.row?.report, 'an ended job has a report');
        return { outcome: 'ended', report: this.row.report };
      case 'fail the task': {
        const { code = '', sentence = '' } = this.refusal ?? {};
        return this.reject({ code, sentence, ...(input.inputIsGone ? { ours: true } : {}) });
      }
      case 'give up':
        deps.events.lostJobUnresolved(this.channel().channel.id, input.taskId, step.why);
        return this.reject(unresolved);
      case 'retry':
        throw failureOf(step);
    }
  }

  /**
   * Takes a slot at the first channel that does not rest and has one. `moved`: the job is past `waiting`,
   * because an earlier attempt has sent it, or its task is past its deadline or has ended.
   */
  private async offer(): Promise<PlacingEvent> {
    const { deps, input } = this;
    for (let next = this.left.shift(); next; next = this.left.shift()) {
      const { channel, provider, upstreamModel } = next;
      if (deps.channels.restMs(channel.id, 'creates') > 0) continue;
      this.sendBy = performance.now() + sendWithinMs;
      const to = { channel: channel.id, upstreamModel, repeatable: provider.repeatsAreSafe };
      const slot = await this.writes.takeSlot(to, channel.jobsInFlightMax);
      if (slot.outcome === 'moved') return { is: 'moved' };
      if (slot.outcome === 'taken') {
        this.secondsLeft = slot.secondsLeft;
        this.at = next;
        this.job = { ...this.job, isLost: false };
        return { is: 'slot taken' };
      }
      this.isFull = true;
    }
    if (this.isFull) return { is: 'full' };
    const rests = candidatesOf(deps.channels, input).map(({ channel }) =>
      deps.channels.restMs(channel.id, 'creates'),
    );
    return { is: 'no channel', restMs: rests.length > 0 ? Math.min(...rests) : 0 };
  }

  /**
   * Takes the job over from an earlier attempt. After that, a report of the job's end completes
   * this activity. If the end was stored earlier, the row contains the report.
   */
  private async takeOver(): Promise<PlacingEvent> {
    const { deps, input } = this;
    // Before the statement, because the answer of the database may be late too.
    this.sendBy = performance.now() + sendWithinMs;
    const row = await this.writes.takeOver();
    const found = hasChannel(row) ? deps.channels.find(row.channel) : undefined;
    this.row = row;
    this.secondsLeft = row?.secondsLeft ?? 0;
    this.at = found && hasChannel(row) ? { ...found, upstreamModel: row.upstreamModel } : undefined;
    this.left = candidatesOf(deps.channels, input);
    this.isFull = false;
    this.job = {
      ...this.job,
      isAccepted: row?.upstreamId != null,
      hasEnded: row?.report != null && isFinalReport(row.report),
      isLost: row?.state === 'sending',
      isRefused: false,
      isChannelKnown: found !== undefined,
      mayBeRepeated: row?.repeatable === true,
      isRepeatable: row?.repeatable === true && found?.provider.repeatsAreSafe === true,
      sentAgoMs: row?.sentAgoMs ?? 0,
      listedAfterMs: found ? listedAfterMs(found.channel) : 0,
      answeredAfterMs: found ? answeredAfterMs(found.channel) : 0,
    };
    return { is: 'taken over' };
  }

  private async send(): Promise<PlacingEvent> {
    const { deps, input } = this;
    const { channel, provider, upstreamModel } = this.channel();
    try {
      if (input.inputIsGone) throw inputGone(input.inputIsGone);
      const sent = { ...input, secondsLeft: this.secondsLeft };
      const upstreamId = await provider.create(sent, upstreamModel, this.sendBy);
      deps.channels.succeeded(channel.id, 'creates');
      return { is: 'accepted', upstreamId };
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
      const { kind: fault, retryAfterMs } = error;
      const isOfChannel = fault !== 'caller' && fault !== 'late';
      if (isOfChannel) deps.channels.failed(channel.id, 'creates', fault, retryAfterMs);
      this.refusal = error;
      this.job = { ...this.job, isRefused: this.job.isLost };
      return { is: 'refused', fault };
    }
  }

  private async renewLink(): Promise<PlacingEvent> {
    this.job = { ...this.job, canRenewLink: false };
    const renewed = await withNewLink(this.deps, this.input);
    if (!renewed) return { is: 'refused', fault: 'caller' };
    this.input = renewed;
    this.left = [this.channel(), ...this.left];
    return { is: 'link renewed' };
  }

  private async lookUp(): Promise<PlacingEvent> {
    const { deps, input, row } = this;
    assert(hasChannel(row), 'a lost job was sent');
    try {
      const { channel, provider } = this.channel();
      const job = await findLostJob(deps, input, row, { channel, provider });
      if (job?.found === 'one') {
        deps.events.lostJobFound(channel.id, input.taskId, job.upstreamId);
      }
      if (job?.found === 'unclear') {
        this.job = { ...this.job, searchedForMs: await this.writes.storeSearched() };
      }
      return { is: 'looked up', job };
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
      return { is: 'not looked up', retryAfterMs: error.retryAfterMs };
    }
  }

  private async store(upstreamId: string): Promise<PlacingEvent> {
    const { deps, input } = this;
    const { channel } = this.channel();
    const as = await this.writes.storeOpened({ channel: channel.id, upstreamId });
    if (as === 'second') deps.events.secondJob(channel.id, input.taskId, upstreamId);
    return { is: 'stored', upstreamId, as };
  }

  private async reject(failure: JobFailure): Promise<Attempted> {
    const { kind } = this.input;
    const report: JobReport = { kind, upstreamId: '', status: 'failed', failure };
    await this.writes.storeRejected(failure);
    return { outcome: 'rejected', report };
  }

  private channel(): Candidate {
    assert(this.at, 'a create has a channel');
    return this.at;
  }
}

function failureOf({ failure, why, afterMs }: PlacingStep & { do: 'retry' }): ApplicationFailure {
  return ApplicationFailure.create({
    type: failure,
    message: why,
    ...(afterMs === null ? {} : { nextRetryDelay: Math.max(1_000, afterMs) }),
  });
}
