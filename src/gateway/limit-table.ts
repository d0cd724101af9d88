// The table of all limits of calls: whom a limit counts, and how many it allows. A rate is a token
// bucket; the other limits count what is in progress. Each API process counts by itself, except for
// unfinished tasks, which the database counts. docs/api.md shows this table.

import type { Config } from '../config/config';

export interface Rate {
  readonly perSecond: number;
  /** Calls at once. */
  readonly burst: number;
}

export interface AtOnce {
  /** For each account or address. */
  readonly own: number;
  /** For all of them together. */
  readonly all: number;
}

type Settings = Pick<
  Config,
  | 'createRatePerSecond'
  | 'readRatePerSecond'
  | 'unknownRatePerSecond'
  | 'databasePoolMax'
  | 'connectionsMax'
>;

interface RateRow {
  readonly of: 'key' | 'address';
  /** What the limit allows, as a refusal says it: "This key may …". */
  readonly may: string;
  readonly most: (settings: Settings) => Rate;
  readonly note?: string;
}

interface AtOnceRow {
  readonly of: 'account' | 'address';
  /** What the limit counts, as a refusal says it: "… in progress". */
  readonly what: string;
  readonly most: (settings: Settings) => AtOnce;
  readonly note?: string;
}

export const rate = (perSecond: number, seconds = 5): Rate => ({
  perSecond,
  burst: seconds * perSecond,
});
const own = (count: number): AtOnce => ({ own: count, all: Number.POSITIVE_INFINITY });
/** The connections of one address or account. A client may keep twenty open without using them. */
const shareOf = (connections: number) => Math.max(20, Math.ceil(connections / 4));

// A customer who creates twice as many tasks also sends twice as many quotes and uploads.
export const rateTable = {
  changes: {
    of: 'key',
    may: 'send or cancel tasks',
    most: ({ createRatePerSecond }) => rate(5 * createRatePerSecond),
    note: 'every POST and DELETE except uploads and quotes; faulty ones and replays count',
  },
  creates: {
    of: 'key',
    may: 'create',
    most: ({ createRatePerSecond }) => rate(createRatePerSecond, 20),
    note: 'refused ones count, replays do not; the operator may set it for a key or an account',
  },
  quotes: {
    of: 'key',
    may: 'ask for quotes',
    most: ({ createRatePerSecond }) => rate(Math.ceil(createRatePerSecond * 0.4)),
  },
  uploads: {
    of: 'key',
    may: 'upload files',
    most: ({ createRatePerSecond }) => rate(Math.ceil(createRatePerSecond / 10)),
    note: 'a create that brings a file counts too',
  },
  reads: {
    of: 'key',
    may: 'read tasks and files',
    most: ({ readRatePerSecond }) => rate(readRatePerSecond),
    note: 'single ones; the operator may set it for a key or an account',
  },
  lists: {
    of: 'key',
    may: 'ask for lists and accounts',
    most: ({ readRatePerSecond }) => rate(Math.ceil(readRatePerSecond / 100)),
  },
  unknown: {
    of: 'address',
    may: 'ask for keys, tasks and files that do not exist',
    // Each of these look-ups costs an SQL statement.
    most: ({ unknownRatePerSecond }) => rate(unknownRatePerSecond, 1),
  },
} satisfies Record<string, RateRow>;

export const atOnceTable = {
  calls: {
    of: 'account',
    what: 'calls',
    most: ({ connectionsMax }) => own(shareOf(connectionsMax)),
    note: 'held reads count, and calls whose body still arrives; an address has as many connections',
  },
  heldReads: {
    of: 'account',
    what: 'reads with `Prefer: wait`',
    // The other calls of the account need connections too, and so do other accounts and probes.
    most: ({ connectionsMax }) => ({
      own: Math.floor(shareOf(connectionsMax) * 0.8),
      all: Math.ceil(connectionsMax / 2),
    }),
    note: 'more are answered at once, without `Preference-Applied`',
  },
  uploadsAtOnce: {
    of: 'account',
    what: 'uploads',
    // An upload may take ten minutes.
    most: ({ connectionsMax }) => ({ own: 100, all: Math.ceil(connectionsMax / 4) }),
  },
  listsAtOnce: {
    of: 'account',
    what: 'lists',
    // A caller that does not read its answer keeps up to a megabyte of it in memory.
    most: () => ({ own: 50, all: 200 }),
    note: 'all calls that count as lists, until their answers are read',
  },
  // Many people may watch the videos of one account, and many may share one address. A player opens
  // a few connections for each video.
  downloads: { of: 'account', what: 'downloads', most: () => own(400) },
  downloadsOfAddress: { of: 'address', what: 'downloads', most: () => own(100) },
  webhookTests: {
    of: 'account',
    what: 'webhook tests',
    // A receiver may take 15 s.
    most: () => own(3),
  },
  databaseConnections: {
    of: 'account',
    what: 'database connections',
    most: ({ databasePoolMax }) => own(Math.floor(databasePoolMax / 2)),
    note: 'a call that waits longer than 8 seconds for one gets a 503',
  },
} satisfies Record<string, AtOnceRow>;

export type RateName = keyof typeof rateTable;
export type AtOnceName = keyof typeof atOnceTable;
export type Limits = Readonly<Record<RateName, Rate> & Record<AtOnceName, AtOnce>> & {
  /** The database connections of the look-ups that all accounts share. */
  readonly databaseLookUps: number;
};

export function limitsOf(settings: Settings): Limits {
  const all = Object.entries({ ...rateTable, ...atOnceTable });
  return {
    ...(Object.fromEntries(all.map(([name, { most }]) => [name, most(settings)])) as Omit<
      Limits,
      'databaseLookUps'
    >),
    databaseLookUps: Math.max(1, Math.floor(settings.databasePoolMax / 4)),
  };
}
