// What the console needs. The process console opens it (src/commands/console.ts).

import type { Knex } from 'knex';
import type { Parts } from '../commands/admin/carry-out';
import type { Logger } from '../telemetry/logger';
import type { Meters } from '../telemetry/meters';

export interface ConsoleDeps {
  readonly parts: Parts;
  /** The connections of sign-in and of the probe, which no command uses. */
  readonly signingIn: Knex;
  readonly log: Logger;
  readonly meters: Pick<Meters, 'add'>;
  readonly version: { readonly version: string; readonly commit: string };
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  readonly isServing: () => boolean;
}
