// The dependencies of the API's parts. It imports only types of those parts, so that no import
// cycle forms.

import type { Knex } from 'knex';
import type { TaskListener } from '../db/task-listener';
import type { Catalogue } from '../domain/catalogue';
import type { Storage } from '../storage/storage';
import type { TemporalClient } from '../temporal/client';
import type { Interval } from './context';
import type { Starter } from './create/starter';

export interface ApiSettings {
  /** Secrets for the digests of API keys; two during a rotation. New digests use the first. */
  readonly peppers: readonly string[];
  readonly publicUrl: string;
  readonly corsOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** True under `npm start`. A refused local address then names the option that allows it. */
  readonly isDevStack?: boolean;
  /** Creates of a key; repeated calls are not counted. */
  readonly createRatePerSecond: number;
  readonly createBurst: number;
  /** Creates and cancellations, including faulty and repeated ones. */
  readonly requestRatePerSecond: number;
  readonly quoteRatePerSecond: number;
  readonly readRatePerSecond: number;
  readonly listRatePerSecond: number;
  readonly uploadRatePerSecond: number;
  /** Look-ups of unknown keys and tasks, per address. */
  readonly unknownRatePerSecond: number;
  /** Refusals of a key or an address that are answered without a delay. */
  readonly refusalRatePerSecond: number;
  readonly listsAtOncePerAccountMax: number;
  /** Creates and cancellations of one account that use the database at once. */
  readonly changesAtOncePerAccountMax: number;
  readonly heldReadsMax: number;
  /** Number of trusted proxies in front, for X-Forwarded-For. */
  readonly trustedProxies: number;
  readonly queuedTasksMax: number;
  /** Uploaded files of an account, and their bytes. */
  readonly uploadsMax: number;
  readonly uploadedBytesMax: number;
  readonly filesKeptDays: number;
  /** `redirect`: links lead to the storage, if it has links of its own. */
  readonly filesDelivery: 'proxy' | 'redirect';
  readonly playground: boolean;
  readonly temporalUiUrl: string | null;
  /** For links into the Temporal UI. */
  readonly temporalNamespace?: string;
  /** Address of sample media for the playground; ends with a slash. */
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
  readonly listener: TaskListener;
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  readonly observer: RequestObserver;
  /** False while the process is stopping, so that load balancers choose another one. */
  readonly isServing: () => boolean;
}

export interface RequestObserver {
  finished(request: FinishedRequest): void;
  /** An error of the service itself: answered with 500 or 503, and logged once. */
  failed(error: unknown, requestId: string): void;
}

export interface FinishedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly traceId: string;
  /** Span id of the caller's traceparent, if it sent one. */
  readonly parentSpanId: string | null;
  readonly startedAtMs: number;
  /** From the call to Temporal that starts the task to its answer. */
  readonly submission: Interval | undefined;
  readonly accountId: string | undefined;
  readonly taskId: string | undefined;
  readonly code: string | undefined;
}
