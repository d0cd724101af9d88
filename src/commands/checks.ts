// The connection options for Temporal, and two checks at the start of a process. If DATABASE_URL or
// TEMPORAL_ADDRESS is wrong, the checks report it within seconds.

import { Connection, type TLSConfig } from '@temporalio/client';
import { Client } from 'pg';
import type { Config } from '../config/config';
import { directAddress, SchemaMismatch } from '../database/schema-mismatch';
import { CommandError } from './command';

/** The address, TLS and key for a connection to Temporal. An API key always turns TLS on. */
export function temporalAccess(config: Config) {
  const { temporalAddress, temporalTls, temporalApiKey } = config;
  return {
    address: temporalAddress ?? '',
    tls: certificatesOf(config) ?? (temporalTls || temporalApiKey !== null),
    ...(temporalApiKey ? { apiKey: temporalApiKey } : {}),
  };
}

/**
 * Returns the TLS options that are set. Returns undefined if neither a certificate nor a server
 * name is set. The caller then decides whether to use TLS.
 */
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

// The connection pool of the service has the same time limit.
const connectTimeoutMs = 2_000;

/** Uses a separate connection, because a pool would report only a timeout and not the cause. */
export async function checkDatabase(url: string, withinMs = connectTimeoutMs): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: withinMs,
    application_name: 'check',
    // The connections of the service send options, and a pooler may refuse a connection with
    // options. So this check sends an option too.
    options: '-c lock_timeout=2000',
  });
  // Without a listener, an error event of this connection would end the process.
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
