// The channels at which a job may be placed.

import type { JobInput } from '../../src/jobs/job.rules';
import type { Channels, KnownChannel } from '../providers/channels';

export interface Candidate extends KnownChannel {
  readonly upstreamModel: string;
}

interface Choice {
  readonly channel: string;
  /** Absent for an enhancement: each provider knows the name of its model. */
  readonly upstreamModel?: string;
}

/** Returns the channels of the plan, in order of preference. */
function choicesOf({ kind, plan }: JobInput): readonly Choice[] {
  if (kind === 'generation') return plan.channels;
  return (plan.enhancement?.channels ?? []).map((channel) => ({ channel }));
}

/** The ids of the channels of the plan, in order of preference. */
export const channelsOf = (input: JobInput) => choicesOf(input).map(({ channel }) => channel);

/** Returns the channels of the plan that are still in the catalogue, in order of preference. */
export function candidatesOf(channels: Channels, input: JobInput): Candidate[] {
  return choicesOf(input).flatMap((choice) => {
    const found = channels.find(choice.channel);
    const upstreamModel = choice.upstreamModel ?? found?.provider.enhancementModel;
    return found && upstreamModel ? [{ ...found, upstreamModel }] : [];
  });
}
