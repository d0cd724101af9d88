// The settings a development stack gives its processes. What a person set stands; the rest is
// worked out from what was started, with limits that a test of one's own does not run into.

import { join, resolve } from 'node:path';
import type { Environment } from '../config';
import type { Secrets } from './demo-account';
import { projectFolder } from './project';
import type { Ports } from './stack-ports';

export interface Started {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUi: string | null;
}

export function stackEnvironment(
  given: Environment,
  dataDir: string,
  ports: Ports,
  secrets: Secrets,
): Readonly<Record<string, string>> {
  const host = given.HOST || '127.0.0.1';
  const studioHost = given.STUDIO_HOST || '127.0.0.1';
  const studioUrl = given.STUDIO_URL || `http://${reachedAt(studioHost)}:${ports.studio}`;
  const allowed = [given.DANGEROUSLY_ALLOW_HOSTS, new URL(studioUrl).host].filter(Boolean);
  const otherwise: Record<string, string> = {
    DATA_DIR: resolve(dataDir),
    API_KEY_PEPPER: secrets.pepper,
    PUBLIC_URL: `http://${reachedAt(host)}:${ports.api}`,
    PLAYGROUND: 'true',
    CREATE_RATE_PER_SECOND: '1000',
    CREATE_BURST: '2000',
    UNFINISHED_TASKS_MAX: '100000',
    CREATES_IN_FLIGHT_PER_ACCOUNT_MAX: '1000',
    TEMPORAL_NAMESPACE: 'default',
    TEMPORAL_TASK_QUEUE: 'video',
    STUDIO_API_KEY: secrets.studioApiKey,
    STUDIO_ADMIN_KEY: given.STUDIO_API_KEY || secrets.studioApiKey,
    STUDIO_PUBLIC_URL: studioUrl,
    STUDIO_DATA_DIR: join(resolve(dataDir), 'studio'),
    STUDIO_URL: studioUrl,
  };
  const chosen = Object.entries(otherwise).map(([name, value]) => [name, given[name] || value]);
  return {
    ...(Object.fromEntries(chosen) as Record<string, string>),
    // The processes run in the project's folder, whichever one this is started from.
    CATALOGUE_FILE: given.CATALOGUE_FILE
      ? resolve(given.CATALOGUE_FILE)
      : join(projectFolder(), 'catalogue.yaml'),
    HOST: host,
    PORT: String(ports.api),
    STUDIO_HOST: studioHost,
    STUDIO_PORT: String(ports.studio),
    DANGEROUSLY_ALLOW_HOSTS: allowed.join(','),
  };
}

/** An address that means "every interface" is no address to call. */
export function reachedAt(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}
