// The Helm chart with the values of its tests, and the programs that read it, built from their Go
// modules.

import { execFile, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { cached } from '../../src/embedded/cache';

const run = promisify(execFile);
export const project = resolve(__dirname, '../..');
export const chart = join(project, 'deploy/helm');

const helmModule = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const conformModule = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0';
export const operatorModule = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
export const go = ['go', '/usr/local/go/bin/go'].find(
  (name) => spawnSync(name, ['version']).status === 0,
);
export const why = go
  ? ''
  : ' (skipped: Go is not installed, and helm and kubeconform are built with it)';
// Only runs that are asked for have these tests, so CI must not pass without them.
if (!go && process.env.CI) throw new Error('Go is not installed, and the chart needs it.');
export const describeWithGo = go ? describe : describe.skip;

export const least = [
  ...['--set', 'image.repository=registry.example.com/video-generation-service'],
  ...['--set', 'settings.TEMPORAL_ADDRESS=temporal.example.com:7233'],
  ...['--set', 'secrets.service=video,secrets.api=video-api'],
  ...['--set', 'secrets.worker=video-worker,secrets.migrate=video-migrate'],
  ...['--set-file', `catalogue.content=${join(project, 'catalogue.ark.yaml')}`],
];
/** Every part of the chart. */
export const parts = [
  ...least,
  ...[
    '--set',
    'monitoring.enabled=true',
    '--set-file',
    `monitoring.rules=${join(project, 'ops/alerts.yaml')}`,
  ],
  ...['--set', 'api.autoscaling.enabled=true,workerDefaults.autoscaling.enabled=true'],
  ...[
    '--set',
    'api.ingress.enabled=true,api.ingress.hosts={v.example.com},api.ingress.tlsSecret=tls',
  ],
  ...['--set', 'settings.TRUSTED_PROXIES=1'],
  ...['--set', 'workers.next.tag=b2,workers.next.settings.WORKER_BUILD_ID=b2'],
  ...[
    '--set',
    'migrate.apiRole=video_api,migrate.workerRole=video_worker,migrate.operatorRole=video_operator',
  ],
  ...['--set', 'codec.enabled=true,secrets.codec=video-codec'],
  ...['--set', 'console.enabled=true,secrets.console=video-console'],
  ...['--set', 'console.settings.CONSOLE_URL=https://operators.example.com'],
  ...['--set', 'networkPolicy.consoleCallers[0].podSelector.matchLabels.app=proxy'],
  ...['--set', 'settings.TEMPORAL_UI_URL=https://temporal.example.com'],
  ...['--set', 'networkPolicy.codecCallers[0].podSelector.matchLabels.app=proxy'],
  ...['--set', 'networkPolicy.dnsCidrs={10.96.0.10/32}'],
  ...['--set', 'networkPolicy.databaseCidrs={10.1.0.0/16,fd00::/64}'],
  ...['--set', 'networkPolicy.temporalCidrs={10.2.0.5/32}'],
];

/** Every part, and each value about pods, the service and the service account. */
export const everything = [
  ...parts,
  ...['--values', join(project, 'test/support/chart-values.yaml')],
];

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[];
  readonly securityContext?: object;
  readonly resources?: object;
  readonly volumeMounts: readonly { readonly name: string }[];
}

export interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext?: object;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly { readonly name: string }[];
  readonly volumes: readonly { readonly name: string }[];
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
}

interface Metadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly automountServiceAccountToken?: boolean;
  readonly spec: {
    readonly replicas?: number;
    readonly type?: string;
    readonly externalTrafficPolicy?: string;
    readonly selector: object;
    readonly template: { readonly metadata: Metadata; readonly spec: PodSpec };
    readonly minReplicas?: number;
    readonly ports?: readonly { readonly name: string }[];
    readonly rules?: readonly { readonly host: string }[];
    readonly tls?: readonly { readonly hosts: readonly string[]; readonly secretName: string }[];
    readonly egress?: readonly {
      readonly ports: readonly { readonly port: number }[];
      readonly to?: readonly { readonly ipBlock: { readonly cidr: string } }[];
    }[];
    readonly metrics?: readonly {
      readonly external?: { readonly metric: { readonly name: string } };
    }[];
  };
}

export const kubernetes = '1.34.0';

/** Renders the chart as a release with the name `video`. */
export const template = (...args: readonly string[]) => templateOf(chart, ...args);

export async function templateOf(from: string, ...args: readonly string[]): Promise<string> {
  const options = ['template', 'video', from, '--kube-version', kubernetes];
  const helm = join(await chartTools(), 'helm');
  return (await run(helm, [...options, ...args], { maxBuffer: 2 ** 26 })).stdout;
}

export async function manifests(...args: readonly string[]): Promise<readonly Manifest[]> {
  const documents = parseAllDocuments(await template(...args));
  return documents.flatMap((one) => (one.toJS() as Manifest | null) ?? []);
}

/** Helm's message about values that it refuses. */
export const refusal = (...args: readonly string[]): Promise<string> =>
  template(...args).then(
    () => 'nothing',
    (error: { stderr: string }) => error.stderr,
  );

export const podsOf = (all: readonly Manifest[]) =>
  all.filter(({ kind }) => /^(Deployment|Job)$/.test(kind));

/** The folder of the programs `helm` and `kubeconform`. */
export function chartTools(): Promise<string> {
  return cached({ name: 'chart-tools-1', needs: ['helm', 'kubeconform'], fill: buildTools });
}

async function buildTools(folder: string): Promise<void> {
  const environment = { ...process.env, GOBIN: folder, GOFLAGS: '-p=1' };
  for (const module of [conformModule, helmModule]) {
    await run('nice', ['-n', '19', go ?? 'go', 'install', module], { env: environment });
  }
}
