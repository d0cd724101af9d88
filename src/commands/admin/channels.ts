// Admin commands that show the channels, and ask the provider of one a free question with its key.

import { randomUUID } from 'node:crypto';
import { UpstreamFault } from '../../../activities/providers/provider';
import type { Channel } from '../../catalogue/catalogue.rules';
import type { FaultKind } from '../../jobs/create-answer.rules';
import { faultText } from '../../jobs/fault-words.rules';
import { type ChannelState, listChannelStates } from '../../jobs/watchers.rows';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext } from './command-line';
import { table } from './tables';

const show: AdminCommand = {
  name: 'channels',
  http: { at: 'GET /channels', role: 'viewer' },
  about: 'each channel: its health, its jobs, its rest and its last fault',
  async run({ config, db }) {
    const { channels, fault } = await knownChannels(config);
    const states = await listChannelStates(db());
    const ids = [...Object.keys(channels ?? {}), ...states.map(({ channel }) => channel)];
    const data = [...new Set(ids)].map((id) => {
      const state = states.find(({ channel }) => channel === id);
      const health = channels && !channels[id] ? 'not in the catalogue' : null;
      return shown(id, channels?.[id], state, health);
    });
    const text = table(data, [
      { title: 'CHANNEL', of: ({ channel }) => channel },
      { title: 'PROTOCOL', of: ({ protocol }) => protocol },
      { title: 'HEALTH', of: ({ health }) => health },
      { title: 'TASKS', of: ({ tasks }) => tasks },
      { title: 'WAITING', of: ({ waiting }) => waiting },
      { title: 'SENDING', of: ({ sending }) => sending },
      { title: 'OPEN', of: ({ open }) => open },
      { title: 'MAX', of: ({ jobsMax }) => jobsMax },
      { title: 'ENDED', of: ({ reported }) => reported },
      { title: 'LAST ROUND', of: ({ roundAt }) => roundAt },
      { title: 'RESTS UNTIL', of: ({ restsUntil }) => restsUntil },
      { title: 'LAST FAULT', of: ({ lastFault }) => lastFault },
      { title: 'AT', of: ({ faultAt }) => faultAt },
    ]);
    if (fault === null) return { data, text };
    return { data, text, exitCode: 1, remark: `${fault}\n${onLastGood}` };
  },
};

export async function channelsIn(config: AdminContext['config']) {
  const { loadCatalogueOf } = require('../load-catalogue') as typeof import('../load-catalogue');
  return (await loadCatalogueOf(config)).channels;
}

const onLastGood =
  'So the processes run on the last good catalogue that each of them has read. Protocols and limits are not shown.';

/** No channels, but a fault, if the catalogue cannot be used. During that incident an operator looks here. */
export async function knownChannels(config: AdminContext['config']) {
  try {
    return { channels: await channelsIn(config), fault: null };
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== 'CatalogueError' && name !== 'CommandError') throw error;
    return { channels: null, fault: message };
  }
}

const noState = {
  ...{ tasks: 0, waiting: 0, sending: 0, open: 0, reported: 0 },
  ...{ roundAt: null, fault: null, faultAt: null, restsUntil: null },
};

function shown(
  id: string,
  channel: Channel | undefined,
  state: ChannelState | undefined,
  health: string | null,
) {
  const { tasks, waiting, sending, open, reported, roundAt, fault, faultAt, restsUntil } =
    state ?? noState;
  return {
    ...{
      channel: id,
      protocol: channel?.protocol ?? null,
      health: health ?? healthOf(channel, state),
    },
    ...{ tasks, waiting, sending, open, jobsMax: channel?.jobsInFlightMax ?? null, reported },
    ...{ roundAt, restsUntil, lastFault: fault && faultText(fault as FaultKind), faultAt },
  };
}

// A watcher makes a round in every few seconds, unless the provider answers no poll.
const silentSeconds = 60;

function healthOf(channel: Channel | undefined, state: ChannelState | undefined): string {
  if (state?.restsUntil) return 'rests';
  const hasJobs = state !== undefined && state.open + state.reported > 0;
  const silence = state?.roundAgoSeconds ?? Number.POSITIVE_INFINITY;
  if (hasJobs && silence > silentSeconds) return 'answers no polls';
  return channel?.jobsInFlightMax === 0 ? 'takes no new jobs' : 'well';
}

const foreignText = 'answers, but not with an error of its protocol: is its baseUrl right?';

const probe: AdminCommand = {
  name: 'channels probe',
  http: { none: 'it needs the key of a provider, which only workers have' },
  operands: ['NAME'],
  isOffline: true,
  about: 'asks the provider of a channel for an unknown job, which is free, with its key',
  async run({ config }, input) {
    const name = input.operand('NAME');
    const channels = await channelsIn(config);
    const channel = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (!channel) {
      const names = Object.keys(channels).join(', ');
      throw new CommandError(`There is no channel "${name}". The catalogue has: ${names}.`, 2);
    }
    const { answer, code, ms, isWell } = await ask(config, channel);
    const data = { channel: name, protocol: channel.protocol, isWell, answer, code, ms };
    const reason = code === null ? '' : ` (${code})`;
    const text = `${name} ${answer}${reason}, in ${ms} ms.`;
    return { data, text, exitCode: isWell ? 0 : 1 };
  },
};

export const channelCommands = [show, probe];

async function ask({ environment }: AdminContext['config'], channel: Channel) {
  if (!environment[channel.apiKeyEnv]) {
    throw new CommandError(
      `${channel.apiKeyEnv} is not set here. The workers have the keys: run this where they run.`,
    );
  }
  const { createChannels } =
    require('../../../activities/providers/channels') as typeof import('../../../activities/providers/channels');
  const catalogue = { currency: '', channels: { [channel.id]: channel }, models: {} };
  const channels = createChannels(
    () => ({ ...catalogue, superResolution: null, chargeMaxFactor: 1 }),
    (envName) => environment[envName],
    Date.now,
    { events: { upstream: () => undefined } },
  );
  const started = performance.now();
  const fault = await channels
    .find(channel.id)
    ?.provider.read(randomUUID())
    .then(
      () => null,
      (error: unknown) => error,
    );
  const ms = Math.round(performance.now() - started);
  return { ...verdictOn(fault), ms };
}

/**
 * A provider that refuses the id, or does not know it, has taken the key. A 404 without an error of
 * the protocol may also come from another server, at a wrong address.
 */
function verdictOn(fault: unknown) {
  const works = 'answers and takes the key';
  if (fault === null) return { isWell: true, answer: works, code: null };
  if (!(fault instanceof UpstreamFault)) throw fault;
  const { kind, code } = fault;
  if (code === 'HTTP_404') return { isWell: false, answer: foreignText, code };
  if (kind === 'not_found' || kind === 'caller') return { isWell: true, answer: works, code: null };
  return { isWell: false, answer: faultText(kind), code };
}
