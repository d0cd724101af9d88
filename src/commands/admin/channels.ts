// The admin command that shows the channels.

import type { Catalogue, Channel } from '../../catalogue/catalogue.rules';
import type { FaultKind } from '../../jobs/create-answer.rules';
import { faultText } from '../../jobs/fault-words.rules';
import { type ChannelState, listChannelStates } from '../../jobs/watchers.rows';
import { includes } from '../../operators/roles.rules';
import type { AdminCommand, AdminContext } from './command-line';
import { table } from './tables';

export const showChannels: AdminCommand = {
  name: 'channels',
  http: { at: 'GET /channels', role: 'viewer' },
  about: 'each channel: its health, its jobs, its rest and its last fault',
  async run({ config, db, role }) {
    const { data, fault } = await channelsShown(config, db());
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
      { title: 'PAUSED', of: ({ pausedAt }) => pausedAt },
      { title: 'BY', of: ({ pausedBy }) => pausedBy },
      { title: 'WHY', of: ({ pausedWhy }) => pausedWhy },
    ]);
    if (fault === null) return { data, text };
    return { data, text, exitCode: 1, remark: `${faultFor(role, fault)}\n${onLastGood}` };
  },
};

/** The channels of the catalogue, and those that have tasks or jobs. */
export async function channelsShown(config: AdminContext['config'], db: Db) {
  const { channels, fault } = await knownChannels(config);
  return { data: await statesOf(channels, db), fault };
}

/** `channels` is null if the catalogue cannot be used. */
export async function statesOf(channels: Catalogue['channels'] | null, db: Db) {
  const states = await listChannelStates(db);
  const ids = [...Object.keys(channels ?? {}), ...states.map(({ channel }) => channel)];
  return [...new Set(ids)].map((id) => {
    const state = states.find(({ channel }) => channel === id);
    const health = channels && !channels[id] ? 'not in the catalogue' : null;
    return shown(id, channels?.[id], state, health);
  });
}

type Db = ReturnType<AdminContext['db']>;

export async function catalogueIn(config: AdminContext['config']) {
  const { loadCatalogueOf } = require('../load-catalogue') as typeof import('../load-catalogue');
  return loadCatalogueOf(config);
}

export const channelsIn = async (config: AdminContext['config']) =>
  (await catalogueIn(config)).channels;

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

/** The faults of a catalogue tell costs and addresses, which are for operators. */
export const faultFor = (role: AdminContext['role'], fault: string) =>
  includes(role, 'operator') ? fault : 'The catalogue cannot be used.';

const noState = {
  ...{ pausedAt: null, pausedBy: null, pausedWhy: null },
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
  const { pausedAt, pausedBy, pausedWhy } = state ?? noState;
  return {
    ...{
      channel: id,
      protocol: channel?.protocol ?? null,
      health: health ?? healthOf(channel, state),
    },
    ...{ tasks, waiting, sending, open, jobsMax: channel?.jobsInFlightMax ?? null, reported },
    ...{ roundAt, restsUntil, lastFault: fault && faultText(fault as FaultKind), faultAt },
    ...{ pausedAt, pausedBy, pausedWhy },
  };
}

// A watcher makes a round in every few seconds, unless the provider answers no poll.
const silentSeconds = 60;

function healthOf(channel: Channel | undefined, state: ChannelState | undefined): string {
  if (state?.pausedAt) return 'paused';
  if (state?.restsUntil) return 'rests';
  const hasJobs = state !== undefined && state.open + state.reported > 0;
  const silence = state?.roundAgoSeconds ?? Number.POSITIVE_INFINITY;
  if (hasJobs && silence > silentSeconds) return 'answers no polls';
  return channel?.jobsInFlightMax === 0 ? 'takes no new jobs' : 'well';
}
