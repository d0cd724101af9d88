// Makes the configuration of each process of the Temporal cluster. `cluster.ts` starts the
// processes.

import { join } from 'node:path';
import type { StackLogs } from '../../src/dev-stack/logs';
import { dynamicConfig } from '../../src/embedded/temporal';

/** The names of the processes. Each consists of `temporal-`, the role and perhaps a number. */
export const processes = [
  'temporal-frontend',
  'temporal-history-1',
  'temporal-history-2',
  'temporal-matching-1',
  'temporal-matching-2',
  'temporal-worker',
] as const;
const roles = ['frontend', 'history', 'matching', 'worker'] as const;

interface Ports {
  /** Must be below 32,768, because the server stores this port as a signed 16-bit number. */
  readonly membership: number;
  readonly grpc: number;
  readonly metrics: number;
}

export interface Site {
  readonly folder: string;
  readonly logs: StackLogs;
  readonly ports: ReadonlyMap<string, Ports>;
  readonly database: { readonly url: URL };
  readonly historyShards: number;
}

export const roleOf = (name: string) => name.replace(/^temporal-|-\d$/g, '');
export const addressOf = ({ ports }: Site, name: string) => `127.0.0.1:${ports.get(name)?.grpc}`;

/** The configuration file of one process. Temporal expects YAML, and JSON is valid YAML. */
export function configOf(site: Site, name: string): object {
  // The server finds the processes of other roles in the membership table. So for another role, the
  // ports of any of its processes can be given.
  const portsOf = (role: string) => {
    const one = role === roleOf(name) ? name : processes.find((other) => roleOf(other) === role);
    return site.ports.get(one ?? '');
  };
  const services = roles.map((role) => {
    const { grpc, membership } = portsOf(role) ?? {};
    const rpc = { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true };
    return [role, { rpc }];
  });
  const { url } = site.database;
  const sql = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: url.host,
      connectProtocol: 'tcp',
      user: url.username,
      password: url.password,
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  });
  const frontend = addressOf(site, 'temporal-frontend');
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: site.historyShards,
      datastores: { default: sql('temporal', 20), visibility: sql('temporal_visibility', 10) },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      metrics: { prometheus: { listenAddress: `127.0.0.1:${site.ports.get(name)?.metrics}` } },
    },
    services: Object.fromEntries(services),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          ...{ enabled: true, initialFailoverVersion: 1, rpcName: 'frontend' },
          rpcAddress: frontend,
        },
      },
    },
    publicClient: { hostPort: frontend },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile(site.folder), pollInterval: '10s' },
  };
}

export const dynamicFile = (folder: string) => join(folder, 'dynamic.yaml');

export const dynamicValues = () =>
  Object.fromEntries(Object.entries(dynamicConfig).map(([key, value]) => [key, [{ value }]]));
