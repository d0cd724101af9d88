// Tests the Helm chart. Helm renders the chart, and kubeconform checks the result against the
// schemas of Kubernetes. Both programs are built from their Go modules, so the tests need Go. The
// schemas come from a Python package, because their usual address is not a package registry.

import { execFile } from 'node:child_process';

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { cached } from '../../src/embedded/cache';
import {
  chart,
  chartTools,
  describeWithGo,
  everything,
  go,
  kubernetes,
  least,
  manifests,
  operatorModule,
  parts,
  podsOf,
  refusal,
  template,
  why,
} from '../support/chart';

const run = promisify(execFile);
const schemaPackage =
  'kubernetes-validate==1.37.0 --hash=sha256:85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9\n';
describeWithGo(`the chart${why}`, () => {
  let tools: string;
  let schemas: string;

  beforeAll(async () => {
    tools = await chartTools();
    schemas = await cached({
      name: 'chart-schemas-2',
      needs: [
        'deployment-apps-v1.json',
        'serviceaccount-v1.json',
        'servicemonitor-monitoring-v1.json',
      ],
      fill: collectSchemas,
    });
  }, 1_200_000);

  const helm = (...args: readonly string[]) =>
    run(join(tools, 'helm'), [...args], { maxBuffer: 2 ** 26 });

  test('the chart passes helm lint', async () => {
    const { stdout } = await helm(
      'lint',
      '--strict',
      '--kube-version',
      kubernetes,
      chart,
      ...least,
    );
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test.each([
    ['only the required values', least],
    ['every option', everything],
  ])('the chart with %s renders valid Kubernetes manifests', async (_, values) => {
    const folder = await mkdtemp(join(tmpdir(), 'video-chart-'));
    try {
      const file = join(folder, 'manifests.yaml');
      await writeFile(file, await template(...values));
      const location = join(schemas, '{{.ResourceKind}}{{.KindSuffix}}.json');
      const args = ['-strict', '-summary', '-output', 'json', '-schema-location', location, file];
      const { stdout } = await run(join(tools, 'kubeconform'), args);
      const { summary } = JSON.parse(stdout) as { summary: Record<string, number> };
      expect(summary).toMatchObject({ invalid: 0, errors: 0, skipped: 0 });
      expect(summary.valid).toBeGreaterThan(10);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each([
    ['an empty place of the image', 'image.repository=', 'image.repository is empty'],
    [
      'an empty address of Temporal',
      'settings.TEMPORAL_ADDRESS=',
      'settings.TEMPORAL_ADDRESS is empty',
    ],
    ['an empty name of a secret', 'secrets.worker=', 'secrets.worker is empty'],
    [
      'a missing catalogue',
      'catalogue.content=',
      'add --set-file catalogue.content=catalogue.yaml',
    ],
    ['a missing volume for files', 'storage.claim.create=false', 'stored files have no place'],
    [
      'a codec without the address of the UI',
      'codec.enabled=true,secrets.codec=video-codec',
      'settings.TEMPORAL_UI_URL is empty',
    ],
    [
      'a codec without its secret',
      'codec.enabled=true,settings.TEMPORAL_UI_URL=https://temporal.example.com',
      'secrets.codec is empty: name the Secret',
    ],
    [
      'a console without its address',
      'console.enabled=true,secrets.console=video-console',
      'console.settings.CONSOLE_URL is empty',
    ],
    [
      'a console without its secret',
      'console.enabled=true,console.settings.CONSOLE_URL=http://localhost:8085',
      'secrets.console is empty: name the Secret',
    ],
    ['an unknown value name', 'apis.replicas=3', 'apis'],
    ['an unknown name of a claim', 'storage.claim.exisiting=mine', 'exisiting'],
    ['an unknown name of an image', 'image.tga=a1', 'tga'],
    ['an unknown name of an ingress', 'api.ingress.secret=tls', 'secret'],
    ['an unknown name of autoscaling', 'workers.main.autoscaling.enabld=true', 'enabld'],
    ['a port that its probes do not ask', 'settings.PORT=9000', 'PORT'],
    ['a setting in lower case', 'settings.log=debug', 'log'],
    ['an unknown name of a pod', 'api.pod.nodeSelctor.a=b', 'nodeSelctor'],
    ['a replaced port in an extra variable', 'pod.extraEnv[0].name=PORT', 'extraEnv'],
    ['a service of an unknown type', 'api.service.type=ExternalName', 'type'],
    ['fewer pods than none', 'api.replicas=-1', 'replicas'],
    [
      'an ingress without a host',
      'api.ingress.enabled=true,settings.TRUSTED_PROXIES=1,api.ingress.tlsSecret=tls',
      'api.ingress.hosts is empty',
    ],
    [
      'an ingress without TLS',
      'api.ingress.enabled=true,settings.TRUSTED_PROXIES=1,api.ingress.hosts={a.example.com}',
      'api.ingress.tlsSecret is empty',
    ],
    [
      'a container that keeps the migration from its end',
      'migrate.pod.extraContainers[0].name=logs',
      'migrate.pod.extraContainers',
    ],
    [
      'an address range without a length',
      'networkPolicy.databaseCidrs={10.1.0.0}',
      'databaseCidrs',
    ],
  ])(
    'the chart is not rendered with %s, and the message names the value',
    async (_, value, message) => {
      const last = value.startsWith('catalogue') ? least.slice(0, -2) : [...least, '--set', value];
      expect(await refusal(...last)).toContain(message);
    },
  );

  test('pods reach DNS, PostgreSQL and Temporal only in the address ranges of the values', async () => {
    const rules = async (...args: readonly string[]) => {
      const all = await manifests(...args);
      const policy = all.find(
        (one) => one.kind === 'NetworkPolicy' && one.metadata.name === 'video',
      );
      return (policy?.spec.egress ?? []).map(({ ports, to }) => [
        ports[0]?.port,
        to?.map(({ ipBlock }) => ipBlock.cidr),
      ]);
    };
    expect(await rules(...least)).toEqual([
      [53, undefined],
      [5432, undefined],
      [7233, undefined],
    ]);
    expect(await rules(...everything)).toEqual([
      [53, ['10.96.0.10/32']],
      [5432, ['10.1.0.0/16', 'fd00::/64']],
      [7233, ['10.2.0.5/32']],
    ]);
  });

  test('numbers, digits, own files and two builds in a file of values reach the pods as they are written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'video-chart-'));
    const file = join(folder, 'values.yaml');
    const text = `
image: { tag: a1 }
migrate: { tag: b2 }
settings: { UPLOADED_BYTES_MAX: 20000000000, CONNECTIONS_MAX: 1000000, TRUSTED_PROXIES: 1, METRICS_HOST: "::" }
secrets: { files: own-files }
api: { ingress: { enabled: true, hosts: [v.example.com], tlsSecret: tls } }
workers:
  main: null
  "1234567": { tag: "1234567", settings: { WORKER_BUILD_ID: "1234567" } }
`;
    await writeFile(file, text);
    const all = await manifests(...least, '--values', file).finally(() =>
      rm(folder, { recursive: true }),
    );
    const pods = podsOf(all);
    const images = pods.map(({ metadata, spec }) => [
      metadata.name,
      spec.template.spec.containers[0]?.image.split(':')[1],
    ]);
    expect(Object.fromEntries(images)).toEqual({
      'video-migrate': 'b2',
      'video-api': 'a1',
      'video-worker-1234567': '1234567',
    });
    for (const { spec, metadata } of pods) {
      const { containers, volumes } = spec.template.spec;
      const { env = [] } = containers[0] ?? {};
      const values = Object.fromEntries(env.map(({ name, value }) => [name, value]));
      expect(values).toMatchObject({
        ...{ UPLOADED_BYTES_MAX: '20000000000', CONNECTIONS_MAX: '1000000', METRICS_HOST: '::' },
        ...(metadata.name === 'video-migrate' ? {} : { PUBLIC_URL: 'https://v.example.com' }),
      });
      expect(volumes.map(({ name }) => name)).toContain('secrets');
    }
  });

  test('every pod runs as an unprivileged user with a read-only file system and gets only its own secrets', async () => {
    const pods = podsOf(await manifests(...parts));
    const secretsOf = Object.fromEntries(
      pods.map(({ metadata, spec }) => [
        metadata.name,
        spec.template.spec.containers[0]?.envFrom.map(({ secretRef }) => secretRef.name),
      ]),
    );
    expect(secretsOf).toEqual({
      'video-migrate': ['video', 'video-migrate'],
      'video-api': ['video', 'video-api'],
      'video-worker-main': ['video', 'video-worker'],
      'video-worker-next': ['video', 'video-worker'],
      'video-codec': ['video-codec'],
      'video-console': ['video-console'],
    });
    for (const { spec } of pods) {
      expect(spec.template.spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
      });
      expect(spec.template.spec.containers[0]?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('the console trusts no proxy of the API, and knows where links to files lead', async () => {
    const own = [
      ...['--set', 'api.settings.PUBLIC_URL=https://api.example.com'],
      ...['--set', 'api.settings.FILES_DELIVERY=redirect,settings.S3_BUCKET=videos'],
    ];
    const pods = podsOf(await manifests(...parts, ...own));
    const pod = pods.find(({ metadata }) => metadata.name === 'video-console');
    const env = pod?.spec.template.spec.containers[0]?.env.map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(env ?? [])).toMatchObject({
      TRUSTED_PROXIES: '0',
      PUBLIC_URL: 'https://api.example.com',
      FILES_DELIVERY: 'redirect',
      S3_BUCKET: 'videos',
    });
  });

  test('a second worker pool has its own image tag and build id, and is scaled by the metric in the README', async () => {
    const all = await manifests(...everything);
    const next = all.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'video-worker-next',
    );
    const [container] = next?.spec.template.spec.containers ?? [];
    expect(container?.image).toBe('registry.example.com/video-generation-service:b2');
    expect(container?.env).toContainEqual({ name: 'WORKER_BUILD_ID', value: 'b2' });
    expect(next?.spec.replicas).toBeUndefined();
    const scaler = all.find(
      ({ kind, metadata }) =>
        kind === 'HorizontalPodAutoscaler' && metadata.name === 'video-worker-next',
    );
    const metric = scaler?.spec.metrics?.[0]?.external?.metric.name ?? '';
    expect(scaler?.spec.minReplicas).toBe(2);
    expect(await readFile(join(chart, 'README.md'), 'utf8')).toContain(`as: ${metric}`);
  });
});

/** Writes one schema file for each kind in the chart. Each file contains all its definitions. */
async function collectSchemas(folder: string): Promise<void> {
  const wheel = join(folder, 'wheel');
  await mkdir(wheel);
  await writeFile(join(wheel, 'requirements.txt'), schemaPackage);
  const options = ['--require-hashes', '--no-deps', '-r', join(wheel, 'requirements.txt')];
  await run('python3', ['-m', 'pip', 'install', '--target', wheel, ...options]);
  const source = join(
    wheel,
    'kubernetes_validate/kubernetes-json-schema',
    `v${kubernetes}-local-strict`,
  );
  const { $defs } = await json(join(source, '_definitions.json'));
  const kinds = [
    ...['configmap-v1', 'deployment-apps-v1', 'horizontalpodautoscaler-autoscaling-v2'],
    ...['ingress-networking-v1', 'job-batch-v1', 'networkpolicy-networking-v1'],
    ...['persistentvolumeclaim-v1', 'poddisruptionbudget-policy-v1', 'service-v1'],
    'serviceaccount-v1',
  ];
  for (const kind of kinds) {
    const text = await readFile(join(source, `${kind}.json`), 'utf8');
    const { $id: _, ...schema } = JSON.parse(text.replaceAll('/api/_definitions.json#', '#'));
    await writeFile(join(folder, `${kind}.json`), JSON.stringify({ ...schema, $defs }));
  }
  await rm(wheel, { recursive: true });
  const { stdout } = await run(go ?? 'go', ['mod', 'download', '-json', operatorModule], {
    cwd: tmpdir(),
  });
  const { Dir: operator } = JSON.parse(stdout) as { Dir: string };
  for (const kind of ['servicemonitor', 'prometheusrule']) {
    const file = join(
      operator,
      `example/prometheus-operator-crd/monitoring.coreos.com_${kind}s.yaml`,
    );
    const { spec } = parse(await readFile(file, 'utf8')) as {
      spec: { versions: readonly [{ schema: { openAPIV3Schema: object } }] };
    };
    const schema = JSON.stringify(spec.versions[0].schema.openAPIV3Schema);
    await writeFile(join(folder, `${kind}-monitoring-v1.json`), schema);
  }
}

const json = async (file: string) =>
  JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
