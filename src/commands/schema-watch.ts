// Is the database's schema the one this code was written for? A database that cannot be asked yet
// is asked again until it can; one with another schema ends the process.

import type { Knex } from 'knex';
import { checkSchema, SchemaMismatch } from '../db/database';
import type { Logger } from '../telemetry';

interface SchemaWatch {
  /** The first answer, whatever it is; rejects for a wrong schema. */
  readonly first: Promise<void>;
  /** Resolves once the schema is right; rejects when an answer shows a wrong one. */
  readonly right: Promise<void>;
  isRight(): boolean;
  stop(): void;
}

const againMs = 1_000;

export function untilSchemaIsRight(db: Knex, log: Logger): SchemaWatch {
  let isRight = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let tellRight: () => void = () => undefined;
  let tellWrong: (error: Error) => void = () => undefined;
  const right = new Promise<void>((resolve, reject) => {
    tellRight = resolve;
    tellWrong = reject;
  });
  const ask = async () => {
    try {
      await checkSchema(db);
      isRight = true;
      tellRight();
    } catch (error) {
      if (error instanceof SchemaMismatch) {
        tellWrong(error);
        throw error;
      }
      if (stopped) return;
      log.warn({ event: 'database_trouble', err: error }, 'the database cannot be asked yet');
      timer = setTimeout(() => ask().catch(() => undefined), againMs);
    }
  };
  const first = ask();
  // Each is told whether or not anybody listens yet.
  for (const answer of [first, right]) answer.catch(() => undefined);
  return {
    first,
    right,
    isRight: () => isRight,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
