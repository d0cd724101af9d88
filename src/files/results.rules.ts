// The input and the result of the activity `storeResults`. Workflow histories record both. The file
// also has the reasons for which a result can be removed.

import type { Size } from '../catalogue/catalogue.rules';
import type { GoneReason } from '../contract/vocabulary';

export const resultRoles = ['video', 'last_frame'] as const;
export type ResultRole = (typeof resultRoles)[number];

/** The reason why a file was removed, as stored in its row. */
export type RemovedBecause = 'expired' | 'caller' | 'operator';

/** The same reasons, as callers see them. */
export const goneReasonOf: Readonly<Record<RemovedBecause, GoneReason>> = {
  expired: 'expired',
  caller: 'deleted',
  operator: 'removed_by_operator',
};

/** One result file at its provider. */
export interface ResultSource {
  readonly role: ResultRole;
  readonly url: string;
  /** The channel that made the file. */
  readonly channel: string;
  /**
   * Unix seconds after which the provider's link has expired; null if the provider sent no time.
   */
  readonly expiresAt: number | null;
}

/** One attempt to copy results takes no longer. The activity `storeResults` times out a little later. */
export const copiedWithinSeconds = 3_600;

export interface StoreResults {
  readonly taskId: string;
  readonly traceId: string;
  readonly sources: readonly ResultSource[];
  /** The seconds from the first attempt to the time at which the activity gives up. */
  readonly triedForSeconds: number;
}

/** `stored` is false if not all results could be stored in time. */
export type StoredResults = KeptResults | { readonly stored: false };

export interface KeptResults {
  readonly stored: true;
  /** Links of this service, keyed by role. A role without a source has no link. */
  readonly links: Readonly<Partial<Record<ResultRole, string>>>;
  /** Unix seconds until which the results are kept. */
  readonly expiresAt: number;
  /** The size of the video in pixels, if its file contains the size. */
  readonly size?: Size;
  /** The measured length of the video, if its file contains it. */
  readonly milliseconds?: number;
}
