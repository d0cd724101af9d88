// Is the database's schema the one this code was written for? A database that cannot be asked yet
// is asked again until it can; one with another schema ends the process.

import type { Knex } from 'knex';
import { checkSchema, SchemaMismatch } from '../db/database';
import type { Logger } from '../telemetry';

interface SchemaWatch {
  /** The first answer, whatever it is; rejects for a wrong schema. */
  readonly first: Promise<void>;
  /** Never resolves; rejects when a later answer shows a wrong schema. */
  readonly wrong: Promise<never>;
  isRight(): boolean;
  stop(): void;
}

const againMs = 1_000;

export function untilSchemaIsRight(db: Knex, log: Logger): SchemaWatch {
  let right = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let reject: (error: Error) => void = () => undefined;
  const wrong = new Promise<never>((_, fail) => {
    reject = fail;
  });
  wrong.catch(() => undefined); // It may be told before anybody listens.

  const ask = async () => {
    try {
      await checkSchema(db);
      right = true;
    } catch (error) {
      if (error instanceof SchemaMismatch) throw error;
      if (stopped) return;
      log.warn({ event: 'database_trouble', err: error }, 'the database cannot be asked yet');
      timer = setTimeout(() => ask().catch(reject), againMs);
    }
  };
  return {
    first: ask(),
    wrong,
    isRight: () => right,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
