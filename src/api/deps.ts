// The dependencies of the API's parts. This file imports only types of those parts, so there is no
// import cycle at run time.

import type { Knex } from 'knex';
import type { ShapeName } from '../contract/openapi-shapes';
import type { Catalogue } from '../domain/catalogue';
import type { Storage } from '../storage/storage';
import type { TemporalClient } from '../temporal/client';
import type { Starter } from './create/starter';

export interface ApiSettings {
  /**
   * Secrets for the digests of API keys; several while a secret is being rotated. New digests use
   * the first secret.
   */
  readonly publicUrl: string;
  readonly corsOrigins: readonly string[];
  /** The inside hosts that callers may name. */
  readonly allowHosts: readonly string[];
  /** The inside hosts at which providers fetch stored files. */
  readonly providerHosts: readonly string[];
  /** Creates of one key. Repeated calls with an Idempotency-Key are not counted. */
  readonly createRatePerSecond: number;
  readonly createBurst: number;
  /** Creates, cancellations and deletions of one key, including faulty and repeated calls. */
  readonly requestRatePerSecond: number;
  readonly quoteRatePerSecond: number;
  readonly readRatePerSecond: number;
  readonly listRatePerSecond: number;
  readonly uploadRatePerSecond: number;
  /** Look-ups of unknown keys, tasks and files by one IP address. */
  readonly unknownRatePerSecond: number;
  readonly listsAtOncePerAccountMax: number;
  /**
   * Maximum number of creates, cancellations and deletions of one account that use the database at
   * once.
   */
  readonly changesAtOncePerAccountMax: number;
  readonly heldReadsMax: number;
  /** Number of trusted proxies in front of the API; used to read X-Forwarded-For. */
  readonly trustedProxies: number;
  readonly queuedTasksMax: number;
  /** Limits of one account: the number of its uploaded files, and their bytes in total. */
  readonly uploadsMax: number;
  readonly uploadedBytesMax: number;
  readonly filesKeptDays: number;
  /**
   * `proxy`: the API sends the bytes of a file itself. `redirect`: the API redirects to a presigned
   * link of the storage, if the storage offers such links.
   */
  readonly filesDelivery: 'proxy' | 'redirect';
  readonly playground: boolean;
  /** The forms of other services that the API speaks besides its own. */
  readonly shapes: readonly ShapeName[];
  readonly temporalUiUrl: string | null;
  /** The namespace in links to the Temporal UI. */
  readonly temporalNamespace?: string;
  /** URL of the list of sample media for the playground; ends with a slash. */
  readonly playgroundSamplesUrl?: string | null;
  readonly version: { readonly name: string; readonly version: string; readonly commit: string };
}

export interface ApiDeps {
  readonly db: Knex;
  readonly storage: Storage;
  readonly temporal: TemporalClient;
  readonly starter: Starter;
  readonly catalogue: () => Catalogue;
  readonly settings: ApiSettings;
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

export interface RequestObserver {
  finished(request: FinishedRequest): void;
  /** A stored file has no bytes in the storage. */
  fileWithoutBytes(fileId: string): void;
  /** Logs an error that the caller did not cause. */
  failed(error: unknown, requestId: string): void;
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
  readonly code: string | undefined;
  /** What answered the read of a live task. */
  readonly answeredBy: 'workflow' | 'row' | undefined;
}
