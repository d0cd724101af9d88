// The dependencies of the API's parts. This file imports only types of those parts, so there is no
// import cycle at run time.

import type { Knex } from 'knex';
import type { Catalogue } from '../catalogue/catalogue.rules';
import type { Config } from '../config/config';
import type { TemporalClient } from '../engine/client';
import type { Storage } from '../files/storage/storage';
import type { Loop } from '../owed/loop';
import type { Limits } from './limit-table';

/** The part of the config that the API reads. */
export type ApiSettings = Pick<
  Config,
  | 'publicUrl'
  | 'corsOrigins'
  | 'dangerouslyAllowHosts'
  | 'dangerouslyAllowProviderHosts'
  | 'trustedProxies'
  | 'queuedTasksMax'
  | 'uploadsMax'
  | 'uploadedBytesMax'
  | 'filesKeptDays'
  | 'filesDelivery'
  | 'playground'
  | 'shapes'
  | 'studioUrl'
  | 'temporalNamespace'
  | 'temporalUiUrl'
>;

export interface ApiDeps {
  readonly db: Knex;
  readonly storage: Storage;
  readonly temporal: TemporalClient;
  readonly starter: Loop;
  readonly catalogue: () => Catalogue;
  readonly settings: ApiSettings;
  readonly limits: Limits;
  readonly version: { readonly name: string; readonly version: string; readonly commit: string };
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  readonly observer: RequestObserver;
  /**
   * False until the database has the schema of this version, and while the process is stopping. As
   * long as this is false, load balancers choose another process.
   */
  readonly isServing: () => boolean;
}

/**
 * What the handlers of calls with a key get. They reach the database by `ctx.state.db`, which is the
 * share of the account.
 */
export type KeyedDeps = Omit<ApiDeps, 'db'>;

export interface RequestObserver {
  finished(request: FinishedRequest): void;
  /** A stored file has no bytes in the storage. */
  fileWithoutBytes(fileId: string): void;
  /** Logs an error that the caller did not cause. */
  failed(error: unknown, call: { readonly requestId: string; readonly traceId: string }): void;
}

export interface FinishedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly traceId: string;
  readonly accountId: string | undefined;
  readonly taskId: string | undefined;
  readonly fileId: string | undefined;
  readonly code: string | undefined;
  /** What answered the read of a live task. */
  readonly answeredBy: 'workflow' | 'row' | undefined;
}
