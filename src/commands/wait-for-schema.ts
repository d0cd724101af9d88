// Waits until the database has the schema this code was written for. If the database does not
// answer it tries again; a different schema ends the process.

import type { Knex } from 'knex';
import { checkSchema } from '../db/database';
import { SchemaMismatch } from '../db/schema-mismatch';
import type { Logger } from '../telemetry/logger';
import { checkDatabase } from './checks';

interface SchemaWatch {
  /**
   * Resolves after the first try, even if the database did not answer; rejects for a wrong schema.
   */
  readonly first: Promise<void>;
  /** Resolves once the schema is right; rejects if it is wrong. */
  readonly right: Promise<void>;
  isRight(): boolean;
  stop(): void;
}

const againMs = 1_000;

export function untilSchemaIsRight(db: Knex, url: string, log: Logger): SchemaWatch {
  let isRight = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let resolveRight: () => void = () => undefined;
  let rejectRight: (error: Error) => void = () => undefined;
  const right = new Promise<void>((resolve, reject) => {
    resolveRight = resolve;
    rejectRight = reject;
  });
  const ask = async () => {
    try {
      await checkDatabase(url);
      await checkSchema(db, { seals: true });
      isRight = true;
      resolveRight();
    } catch (error) {
      if (error instanceof SchemaMismatch) {
        rejectRight(error);
        throw error;
      }
      if (stopped) return;
      log.warn({ event: 'database_unavailable', err: error }, 'the database does not answer yet');
      timer = setTimeout(() => ask().catch(() => undefined), againMs);
    }
  };
  const first = ask();
  // Prevents unhandled rejections if one of them has no listener.
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
