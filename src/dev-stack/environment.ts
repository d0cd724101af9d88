// The settings that a development stack gives to its processes. Settings that the environment
// contains are kept. The other settings follow from the servers that were started. The limits are
// high enough for manual tests.

import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { projectFolder } from '../commands/package-info';
import type { Environment } from '../config/secret-files';
import { hostPortOf } from '../outbound/address.rules';
import type { Secrets } from './demo-account';
import type { Ports } from './ports';

export interface Started {
  /** The connection URL for the role that owns the database. */
  readonly databaseUrl: string;
  readonly apiDatabaseUrl: string;
  readonly workerDatabaseUrl: string;
  readonly operatorDatabaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | null;
}

export function stackEnvironment(
  given: Environment,
  dataDir: string,
  ports: Ports,
  secrets: Secrets,
  receivers: readonly string[] = [],
): Readonly<Record<string, string>> {
  const host = given.HOST || '127.0.0.1';
  const studioHost = given.STUDIO_HOST || '127.0.0.1';
  const studioUrl = given.STUDIO_URL || `http://${reachedAt(studioHost)}:${ports.studio}`;
  const publicUrl = given.PUBLIC_URL || `http://${reachedAt(host)}:${ports.api}`;
  const [studio, api] = [studioUrl, publicUrl].map((url) => hostPortOf(new URL(url)));
  // Callers may name the studio, which serves sample media, but not the API.
  const callers = [given.DANGEROUSLY_ALLOW_HOSTS, ...receivers, studio].filter(Boolean);
  // The studio fetches uploaded files from the API.
  const providers = [given.DANGEROUSLY_ALLOW_PROVIDER_HOSTS, studio, api].filter(Boolean);
  const otherwise: Record<string, string> = {
    DATA_DIR: resolve(dataDir),
    PUBLIC_URL: publicUrl,
    PLAYGROUND: 'true',
    CREATE_RATE_PER_SECOND: '1000',
    READ_RATE_PER_SECOND: '100000',
    UNKNOWN_RATE_PER_SECOND: '1000',
    QUEUED_TASKS_MAX: '100000',
    TEMPORAL_NAMESPACE: 'default',
    TEMPORAL_TASK_QUEUE: 'video',
    STUDIO_API_KEY: secrets.studioApiKey,
    STUDIO_PUBLIC_URL: studioUrl,
    STUDIO_URL: studioUrl,
    STORAGE_DIR: join(resolve(dataDir), 'files'),
  };
  const chosen = Object.entries(otherwise).map(([name, value]) => [name, given[name] || value]);
  return {
    ...(Object.fromEntries(chosen) as Record<string, string>),
    // The processes run in the project's folder, so a relative path must be resolved here.
    CATALOGUE_FILE: given.CATALOGUE_FILE
      ? resolve(given.CATALOGUE_FILE)
      : join(projectFolder(), 'catalogue.yaml'),
    HOST: host,
    PORT: String(ports.api),
    CONSOLE_HOST: given.CONSOLE_HOST || '127.0.0.1',
    CONSOLE_PORT: String(ports.console),
    // Not the host name of the API: browsers send a cookie to every port of its host.
    CONSOLE_URL: given.CONSOLE_URL || `http://localhost:${ports.console}`,
    STUDIO_HOST: studioHost,
    STUDIO_PORT: String(ports.studio),
    DANGEROUSLY_ALLOW_HOSTS: callers.join(','),
    DANGEROUSLY_ALLOW_PROVIDER_HOSTS: providers.join(','),
  };
}

/**
 * The host to call. An address for all interfaces cannot be called, so it becomes the loopback
 * address.
 */
function reachedAt(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIPv6(host) ? `[${host}]` : host;
}
