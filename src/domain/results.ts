// The results of a task: as its workflow passes them on to be stored, and after that. These shapes
// are recorded in histories.

import type { TaskObject } from '../contract/task';
import type { GoneReason } from '../contract/vocabulary';
import type { Size } from './catalogue';

export const resultRoles = ['video', 'last_frame'] as const;
export type ResultRole = (typeof resultRoles)[number];

/** The reasons for a removal, as stored in the row of the file. */
export type RemovedBecause = 'expired' | 'caller' | 'operator' | 'lost';

/** The reasons as callers see them. */
export const goneReasonOf: Readonly<Record<RemovedBecause, GoneReason>> = {
  expired: 'expired',
  caller: 'deleted',
  operator: 'removed_by_operator',
  lost: 'lost',
};

/** One result at its provider. */
export interface ResultSource {
  readonly role: ResultRole;
  readonly url: string;
  /** Unix seconds after which the provider's link has expired; null if it did not say. */
  readonly expiresAt: number | null;
}

export interface StoreResults {
  readonly taskId: string;
  readonly sources: readonly ResultSource[];
  /** The task object as GET shows it meanwhile (stage `storing`). */
  readonly object: TaskObject;
  /** The video is uploaded to the address in the request. */
  readonly uploads: boolean;
}

export interface StoredResults {
  /** Our links; a role without a source has none. */
  readonly links: Readonly<Partial<Record<ResultRole, string>>>;
  /** Unix seconds until which they are kept. */
  readonly expiresAt: number;
  /** False if the time to wait was over; the links pass on the provider's bytes meanwhile. */
  readonly stored: boolean;
  /** Pixels of the video, if it is stored and its file says them. */
  readonly size?: Size;
  /** The video is still to be uploaded to the caller's address. */
  readonly uploads?: true;
}
