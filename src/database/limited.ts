// A database whose calls take turns before each connection of the pool. It has the same connections
// as the whole database, and every function of this folder works with it.

import type { Knex } from 'knex';

interface Turns {
  /** Resolves when the next connection may be taken. */
  enter(): Promise<void>;
  leave(): void;
}

export function limited(db: Knex, { enter, leave }: Turns): Knex {
  const whole = db.client as Knex.Client;
  const client = Object.create(whole, {
    acquireConnection: {
      async value() {
        await enter();
        try {
          return await whole.acquireConnection();
        } catch (error) {
          leave();
          throw error;
        }
      },
    },
    releaseConnection: {
      value(connection: unknown) {
        leave();
        return whole.releaseConnection(connection);
      },
    },
  }) as Knex.Client;
  // The methods of knex take the client from its context. A second knex would have its own pool.
  const { context: shared } = db as Knex & { context: Knex };
  const context = Object.create(shared, { client: { value: client } }) as Knex;
  const calls = (table: string) => context.queryBuilder().from(table);
  return Object.defineProperty(Object.setPrototypeOf(calls, db), 'context', { value: context });
}
