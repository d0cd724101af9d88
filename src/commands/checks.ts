// The access to Temporal, and checks at start that the given database and Temporal server answer,
// so that a wrong address is reported within seconds.

import { Connection, type TLSConfig } from '@temporalio/client';
import { Client } from 'pg';
import type { Config } from '../config/config';
import { directAddress, SchemaMismatch } from '../db/schema-mismatch';
import { CommandError } from './command';

/** With an API key TLS is always on. */
export function temporalAccess(config: Config) {
  const { temporalAddress, temporalTls, temporalApiKey } = config;
  return {
    address: temporalAddress ?? '',
    tls: certificatesOf(config) ?? (temporalTls || temporalApiKey !== null),
    ...(temporalApiKey ? { apiKey: temporalApiKey } : {}),
  };
}

/** Undefined if no setting differs from plain TLS. */
function certificatesOf(config: Config): TLSConfig | undefined {
  const { temporalTlsCa: ca, temporalTlsCert: crt, temporalTlsKey: key } = config;
  const { temporalTlsServerName: name } = config;
  if (!ca && !crt && !name) return undefined;
  return {
    ...(name ? { serverNameOverride: name } : {}),
    ...(ca ? { serverRootCACertificate: Buffer.from(ca) } : {}),
    ...(crt && key ? { clientCertPair: { crt: Buffer.from(crt), key: Buffer.from(key) } } : {}),
  };
}

export async function checkTemporal(config: Config): Promise<void> {
  const { temporalNamespace } = config;
  const access = temporalAccess(config);
  try {
    const connection = await Connection.connect({ ...access, connectTimeout: '5s' });
    try {
      await connection.withDeadline(Date.now() + 5_000, () =>
        connection.workflowService.describeNamespace({ namespace: temporalNamespace }),
      );
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw new CommandError(
      `Temporal at ${access.address} (TEMPORAL_ADDRESS) does not answer for namespace ` +
        `"${temporalNamespace}": ${(error as Error).message}`,
      1,
      { cause: error },
    );
  }
}

// The time limit that the service's own pool has.
const connectTimeoutMs = 2_000;

/** Uses a connection of its own, because a pool reports only a timeout and not the cause. */
export async function checkDatabase(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'check',
    // A setting of the service's own connections. A pooler may refuse a connection that sends one.
    options: '-c lock_timeout=2000',
  });
  // If the connection is lost after the check, its next user reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const { host, pathname } = new URL(url);
    const why = (error as Error).message || String((error as { code?: unknown }).code);
    const name = `${host}${pathname}`;
    if (why.includes('unsupported startup parameter')) {
      throw new SchemaMismatch(
        `DATABASE_URL leads to a pooler at ${name} (${why}): ${directAddress}`,
      );
    }
    const sentence = `The database at ${name} (DATABASE_URL) does not answer: ${why}`;
    throw new CommandError(sentence, 1, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}
