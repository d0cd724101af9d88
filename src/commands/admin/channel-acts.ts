// Admin commands that act on a channel: pause it, resume it, and ask its provider a free question.

import type { ChannelTested } from '../../../workflows/messages';
import { listChannelStates, pauseChannel, resumeChannel } from '../../jobs/watchers.rows';
import { CommandError, notFound } from '../command';
import { channelsIn, knownChannels } from './channels';
import type { AdminCommand, AdminContext, Input } from './command-line';
import { nothingChanged } from './values';

const pause: AdminCommand = {
  name: 'channels pause',
  http: { at: 'POST /channels/:NAME/pause', role: 'operator', asksWhy: true },
  operands: ['NAME'],
  changes: () => ({ kind: 'service' }),
  about: 'gives a channel no new jobs; its running jobs go on. Needs --why',
  async run({ config, db, who }, input) {
    const name = await knownName(config, db(), input);
    const why = input.option('why');
    if (why === undefined) {
      const message = '--why must be given: each task that waits for the channel shows it.';
      throw new CommandError(message, 2, { param: 'why' });
    }
    const isNew = await pauseChannel(db(), name, who, why);
    const effect = isNew ? `${name} is paused` : `${name} is paused already; ${nothingChanged}`;
    return { data: { channel: name, paused: true }, text: `${effect}.`, effect };
  },
};

const resume: AdminCommand = {
  name: 'channels resume',
  http: { at: 'POST /channels/:NAME/resume', role: 'operator', asksWhy: true },
  operands: ['NAME'],
  changes: () => ({ kind: 'service' }),
  about: 'ends the pause of a channel',
  async run({ db }, input) {
    const name = input.operand('NAME');
    const wasPaused = await resumeChannel(db(), name);
    const effect = wasPaused ? `${name} takes jobs again` : `${name} is not paused`;
    return { data: { channel: name, paused: false }, text: `${effect}.`, effect };
  },
};

const probe: AdminCommand = {
  name: 'channels probe',
  http: { at: 'POST /channels/:NAME/probe', role: 'operator' },
  operands: ['NAME'],
  isOffline: true,
  about: 'lets a worker ask the provider of a channel for an unknown job, which is free',
  async run(context, input) {
    const channels = await channelsIn(context.config);
    const name = channelIn(Object.keys(channels), input);
    const { isWell, answer, code, ms } = await test(context, channels, name);
    const { protocol = null } = channels[name] ?? {};
    const data = { channel: name, protocol, isWell, answer, code, ms };
    const reason = code === null ? '' : ` (${code})`;
    const text = `${name} ${answer}${reason}, in ${ms} ms.`;
    return { data, text, exitCode: isWell ? 0 : 1 };
  },
};

export const channelActs = [pause, resume, probe];

/** If the catalogue cannot be read, a channel is known by its tasks: a faulty file must not keep it running. */
async function knownName(config: AdminContext['config'], db: Db, input: Input): Promise<string> {
  const { channels } = await knownChannels(config);
  if (channels) return channelIn(Object.keys(channels), input);
  return channelIn(
    (await listChannelStates(db)).map(({ channel }) => channel),
    input,
  );
}

type Db = ReturnType<AdminContext['db']>;
type ChannelsById = Awaited<ReturnType<typeof channelsIn>>;

function channelIn(known: readonly string[], input: Input): string {
  const name = input.operand('NAME');
  if (known.includes(name)) return name;
  const message = `There is no channel "${name}". There are: ${known.join(', ') || 'none'}.`;
  throw new CommandError(message, 2, { kind: 'not_found' });
}

/** The workers have the keys. Without an answer of one, a key of this machine is used. */
async function test(
  context: AdminContext,
  channels: ChannelsById,
  name: string,
): Promise<ChannelTested> {
  const { config } = context;
  const { apiKeyEnv } = channels[name] ?? {};
  const hasKey = apiKeyEnv !== undefined && Boolean(config.environment[apiKeyEnv]);
  const engine = require('../../engine/test-channel') as typeof import('../../engine/test-channel');
  try {
    const tested = await engine.runChannelTest(context.temporal(), config.temporalTaskQueue, name);
    if (tested) return tested;
    throw new CommandError(`The workers have not loaded a catalogue with the channel ${name}.`);
  } catch (error) {
    if (hasKey) return testHere(config, channels, name);
    if ((error as Error).name === 'CommandError') throw error;
    const message = `No worker tested ${name} in time, and ${apiKeyEnv} is not set here. The workers have the keys.`;
    throw new CommandError(message, 1, { kind: 'away', cause: error });
  }
}

async function testHere(
  config: AdminContext['config'],
  channels: ChannelsById,
  name: string,
): Promise<ChannelTested> {
  const { createChannels } =
    require('../../../activities/providers/channels') as typeof import('../../../activities/providers/channels');
  const { testChannel } =
    require('../../../activities/providers/test-channel') as typeof import('../../../activities/providers/test-channel');
  const none = { currency: '', models: {}, superResolution: null, chargeMaxFactor: 1 };
  const known = createChannels(
    () => ({ ...none, channels }),
    (envName) => config.environment[envName],
    Date.now,
    { events: { upstream: () => undefined } },
  );
  const tested = await testChannel(known, name);
  if (tested) return tested;
  throw notFound(`There is no channel "${name}".`);
}
