// The schema as an ordered list of named steps, forward only. A name is recorded in every database
// that ran it and is never changed or removed; a new need is a new step at the end.

import type { Knex } from 'knex';
import { createCallbackTables, recordOwedCallbacks } from './migrations/callbacks';
import { createLedger } from './migrations/ledger';
import { createTasks } from './migrations/tasks';
import { createUnknownStarts, noteEachStart } from './migrations/unknown-starts';
import { createUnplaced } from './migrations/unplaced';

interface Migration {
  readonly name: string;
  up(db: Knex.Transaction): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: '0001_accounts_tasks_jobs', up: createTasks },
  { name: '0002_ledger', up: createLedger },
  { name: '0003_callbacks', up: createCallbackTables },
  { name: '0004_callbacks_owed', up: recordOwedCallbacks },
  { name: '0005_unknown_starts', up: createUnknownStarts },
  { name: '0006_each_unknown_start', up: noteEachStart },
  { name: '0007_unplaced', up: createUnplaced },
];
