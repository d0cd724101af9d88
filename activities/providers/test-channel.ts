// Asks the provider of a channel for a job that does not exist, which is free and shows if it answers and
// takes the key. Nothing is stored: the result goes to the operator who waits for it.

import { randomUUID } from 'node:crypto';
import { faultText } from '../../src/jobs/fault-words.rules';
import type { ChannelTest, ChannelTested } from '../../workflows/messages';
import type { Channels } from './channels';
import { UpstreamFault } from './provider';

export function createChannelTest({ channels }: { readonly channels: Channels }) {
  return {
    testChannel: ({ channel }: ChannelTest): Promise<ChannelTested | null> =>
      testChannel(channels, channel),
  };
}

/** Returns null if the channel is not in the catalogue. */
export async function testChannel(
  channels: Pick<Channels, 'find'>,
  name: string,
): Promise<ChannelTested | null> {
  const known = channels.find(name);
  if (!known) return null;
  const started = performance.now();
  const fault = await known.provider.read(randomUUID()).then(
    () => null,
    (error: unknown) => error,
  );
  const ms = Math.round(performance.now() - started);
  return { ...verdictOn(fault), ms };
}

const foreignText = 'answers, but not with an error of its protocol: is its baseUrl right?';

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
