// Checks the channels of the catalogue, and the channels that its models and its super-resolution
// name: what their protocols can do, their keys, meters and weights.

import type { Resolution } from '../contract/vocabulary';
import { enhancedResolutions } from '../contract/vocabulary';
import type { JobKind } from '../jobs/job.rules';
import { repeatedKeys } from './channel-keys';
import { type CheckedFile, enhancerLimitsOf, factsOf, type Say } from './checked-file';
import type { ModelEntry } from './schema';

export function channelFaults(file: CheckedFile, say: Say): void {
  for (const [id, entry] of Object.entries(file.channels)) {
    const { protocol, profile } = entry;
    for (const at of repeatedKeys(entry)) {
      say(['channels', id, 'moreKeys', at, 'apiKeyEnv'], 'the channel names this key twice');
    }
    const { profiles = [], trusts = [] } = factsOf(protocol, file);
    if (entry.honoursIdempotencyKey && !trusts.includes('honoursIdempotencyKey')) {
      const path = ['channels', id, 'honoursIdempotencyKey'];
      say(path, `${protocol} cannot make use of it; leave it out`);
    }
    if (profile === null || profiles.includes(profile)) continue;
    const known = profiles.length > 0 ? `the profiles ${profiles.join(', ')}` : 'no profiles';
    say(['channels', id, 'profile'], `${protocol} has ${known}; got "${profile}"`);
  }
}

export function choiceFaults(entry: ModelEntry, file: CheckedFile, say: Say): void {
  for (const [index, choice] of entry.channels.entries()) {
    const sayOf: Say = (path, sentence) => say(['channels', index, ...path], sentence);
    checkChannel(choice.channel, 'generation', file, (why) => sayOf(['channel'], why));
    if (entry.channels.slice(0, index).some((earlier) => isSameChoice(earlier, choice))) {
      sayOf(['upstreamModel'], 'the model lists this channel with this upstream model twice');
    }
    if (choice.meter === 'reported' && needsMeter(choice.channel, file)) {
      sayOf(['meter'], 'the channel reports no tokens: perSecond or perJob is needed');
    }
    for (const key of ['meter', 'cost'] as const) {
      for (const tier of tiersWithout(entry, choice[key]))
        sayOf([key], `has no figure for ${tier}`);
    }
  }
  const weighted = entry.channels.filter(({ weight }) => weight !== undefined);
  if (weighted.length > 0 && weighted.length < entry.channels.length) {
    say(['channels'], 'either all of them need a weight, or none');
  }
}

type Choice = ModelEntry['channels'][number];

/** A job stores these two, so its meter and its cost are those of the first such choice. */
function isSameChoice(one: Choice, other: Choice): boolean {
  return one.channel === other.channel && one.upstreamModel === other.upstreamModel;
}

export function enhancerFaults(file: CheckedFile, say: Say): void {
  for (const [index, id] of (file.superResolution?.channels ?? []).entries()) {
    const path = ['superResolution', 'channels', index];
    checkChannel(id, 'super_resolution', file, (why) => say(path, why));
  }
  for (const [id, cost] of Object.entries(file.superResolution?.costs ?? {})) {
    const path = ['superResolution', 'costs', id];
    if (!file.superResolution?.channels.includes(id)) say(path, 'is not among the channels');
    else if (!('perMinute' in cost)) {
      const figures = 'perJob' in cost ? cost.perJob : cost.perSecond;
      const targets = Object.hasOwn(file.channels, id) ? targetsOf(id, file) : [];
      for (const tier of targets) {
        if (figures[tier] === undefined) say(path, `has no figure for ${tier}`);
      }
    }
  }
}

const targetsOf = (id: string, file: CheckedFile) =>
  enhancerLimitsOf(id, file)?.targets ?? enhancedResolutions;

const providersOf: Readonly<Record<JobKind, string>> = {
  generation: 'a generator',
  super_resolution: 'an enhancer',
};

function checkChannel(
  id: string,
  kind: JobKind,
  file: CheckedFile,
  say: (sentence: string) => void,
): void {
  const channel = Object.hasOwn(file.channels, id) ? file.channels[id] : undefined;
  if (!channel) {
    say(`there is no channel "${id}"; channels: ${Object.keys(file.channels).join(', ')}`);
  } else if (!factsOf(channel.protocol, file).does.includes(kind)) {
    say(`channel "${id}" speaks ${channel.protocol}, but ${providersOf[kind]} is needed here`);
  }
}

function needsMeter(id: string, file: CheckedFile): boolean {
  const channel = Object.hasOwn(file.channels, id) ? file.channels[id] : undefined;
  return channel !== undefined && factsOf(channel.protocol, file).needsMeter === true;
}

/** The tiers of the model for which a meter or a cost has no figure. */
function tiersWithout(
  { resolutions }: ModelEntry,
  figures: Choice['meter' | 'cost'],
): readonly Resolution[] {
  if (figures === undefined || figures === 'reported' || 'perMillionTokens' in figures) return [];
  const byTier = 'perJob' in figures ? figures.perJob : figures.perSecond;
  return resolutions.filter((tier) => byTier[tier] === undefined);
}
