// A channel with several keys is a channel for each key. So each key has its own limit and its own
// rests, a job is recorded with the key that created it, and a watcher polls the job with this key.

import type { Channel } from './catalogue.rules';
import type { CatalogueFile } from './schema';

type ChannelEntry = CatalogueFile['channels'][string];

/** The first key has the name of the channel, so that a further key does not rename it. */
export function channelsOfKeys(id: string, entry: ChannelEntry): readonly Channel[] {
  const { moreKeys, ...first } = entry;
  const more = moreKeys.map(({ apiKeyEnv, jobsInFlightMax = entry.jobsInFlightMax }) => ({
    ...{ ...first, id: `${id}:${apiKeyEnv}` },
    ...{ apiKeyEnv, jobsInFlightMax },
  }));
  return [{ ...first, id }, ...more];
}

/**
 * Of each of these channels, the ids of the keys for new jobs. If all keys of all these channels are
 * closed (`jobsInFlightMax: 0`), jobs wait for any of them, until one of them is opened.
 */
export function keysForJobs(
  ids: readonly string[],
  { channels }: Pick<CatalogueFile, 'channels'>,
): (id: string) => readonly string[] {
  const keysOf = (id: string) => {
    const entry = channels[id];
    return entry ? channelsOfKeys(id, entry) : [];
  };
  const isOpen = (key: Channel) => key.jobsInFlightMax !== 0;
  const allAreClosed = !ids.flatMap(keysOf).some(isOpen);
  return (id) =>
    keysOf(id)
      .filter((key) => allAreClosed || isOpen(key))
      .map((key) => key.id);
}

/** The index of each further key that the channel names a second time. */
export function repeatedKeys({ apiKeyEnv, moreKeys }: ChannelEntry): readonly number[] {
  const names = [apiKeyEnv, ...moreKeys.map((key) => key.apiKeyEnv)];
  return moreKeys.flatMap((key, at) => (names.indexOf(key.apiKeyEnv) <= at ? [at] : []));
}
