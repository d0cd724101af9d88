// Does the database that was given answer, and take us in? Asked once, by itself: a pool would only
// say that it waited in vain.

import { Client } from 'pg';
import { CommandError } from './command';

// The service's own limit for a connection; a person is told within it.
const connectTimeoutMs = 2_000;

export async function checkDatabase(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'check',
  });
  client.on('error', () => undefined); // Lost right after it answered; whoever uses it next will say so.
  try {
    await client.connect();
  } catch (error) {
    const { host, pathname } = new URL(url);
    const why = (error as Error).message || String((error as { code?: unknown }).code);
    const name = `${host}${pathname}`;
    const sentence = `The database at ${name} (DATABASE_URL) does not answer: ${why}`;
    throw new CommandError(sentence, 1, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}
