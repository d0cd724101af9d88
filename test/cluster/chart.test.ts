// Installs the Helm chart at a real Kubernetes API server. No pod runs, because there is no node.

import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import {
  chart,
  chartTools,
  describeWithGo,
  everything,
  go,
  operatorModule,
  project,
  why,
} from '../support/chart';
import { blocksOf } from '../support/markdown';
import { until } from '../support/until';
import { startKubernetes, version } from './kubernetes';

const run = promisify(execFile);

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: object;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly template?: { readonly metadata: object; readonly spec: object } };
}

const plurals: Readonly<Record<string, string>> = {
  Ingress: 'ingresses',
  NetworkPolicy: 'networkpolicies',
};
const pathOf = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>) =>
  `/${apiVersion === 'v1' ? 'api' : 'apis'}/${apiVersion}/namespaces/video/${plurals[kind] ?? `${kind.toLowerCase()}s`}`;

describeWithGo(`the chart at an API server${why}`, () => {
  let kubernetes: Awaited<ReturnType<typeof startKubernetes>>;
  let tools: string;
  beforeAll(async () => {
    tools = await chartTools();
    kubernetes = await startKubernetes();
    await defineMonitoring(kubernetes.call);
    // The strictest standard of Kubernetes for pods.
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'video', labels } };
    expect((await kubernetes.call('POST', '/api/v1/namespaces', namespace)).status).toBe(201);
  }, 3_600_000);
  afterAll(() => kubernetes?.stop());

  const helm = async (...args: readonly string[]) => {
    const options = ['--kubeconfig', kubernetes.kubeconfig, '--namespace', 'video'];
    return (await run(join(tools, 'helm'), [...args, ...options], { maxBuffer: 2 ** 26 })).stdout;
  };
  const rendered = async () =>
    parseAllDocuments(
      await helm('template', 'video', chart, '--kube-version', version, ...everything),
    ).flatMap((one) => (one.toJS() as Manifest | null) ?? []);
  const found = async (one: Manifest) =>
    (await kubernetes.call('GET', `${pathOf(one)}/${one.metadata.name}`)).status;

  test('every object is created strictly, changed, rolled back and removed, and the migration is a job', async () => {
    const all = await rendered();
    const isHook = ({ metadata }: Manifest) => 'helm.sh/hook' in (metadata.annotations ?? {});
    const hooks = all.filter(isHook);
    const others = all.filter((one) => !isHook(one));
    const kinds = new Set(others.map(({ kind }) => kind));
    for (const kind of ['NetworkPolicy', 'PodDisruptionBudget', 'PrometheusRule']) {
      expect([...kinds]).toContain(kind);
    }
    for (const one of all) {
      const path = `${pathOf(one)}?fieldValidation=Strict&dryRun=All`;
      const { status, body } = await kubernetes.call('POST', path, one);
      expect([one.kind, one.metadata.name, status, body]).toEqual([
        one.kind,
        one.metadata.name,
        201,
        expect.anything(),
      ]);
    }
    // Without a node no hook ends, so the migration is created by itself.
    await helm('install', 'video', chart, '--no-hooks', ...everything);
    for (const one of others) expect([one.kind, await found(one)]).toEqual([one.kind, 200]);
    for (const one of hooks) {
      expect((await kubernetes.call('POST', pathOf(one), one)).status).toBe(201);
    }
    await helm('upgrade', 'video', chart, '--no-hooks', ...everything, '--set', 'api.replicas=3');
    // An autoscaler leaves 0 pods alone, so the upgrade after 0 sets the number.
    for (const replicas of [0, 2]) {
      const set = ['--set', `api.replicas=${replicas}`];
      await helm('upgrade', 'video', chart, '--no-hooks', ...everything, ...set);
      const path = '/apis/apps/v1/namespaces/video/deployments/video-api';
      const { body } = await kubernetes.call('GET', path);
      expect(body).toMatchObject({ spec: { replicas } });
    }
    await helm('rollback', 'video', '1', '--no-hooks');
    await helm('uninstall', 'video', '--no-hooks');
    for (const one of others) {
      const gone = async () => (await found(one)) === 404;
      // A claim waits for a controller that confirms that no pod uses it.
      if (one.kind !== 'PersistentVolumeClaim') await until(`${one.kind} is gone`, gone);
    }
  });

  test('a pod of each kind is admitted under the strictest standard for pods', async () => {
    const pods = (await rendered()).flatMap(({ metadata, spec }) =>
      spec?.template ? [{ name: metadata.name, ...spec.template }] : [],
    );
    expect(pods.length).toBeGreaterThan(4);
    for (const { name, metadata, spec } of pods) {
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, spec };
      const path = '/api/v1/namespaces/video/pods?fieldValidation=Strict';
      const { status, body } = await kubernetes.call('POST', path, pod);
      expect([name, status, body]).toEqual([name, 201, expect.anything()]);
    }
    const loose = { containers: [{ name: 'a', image: 'a' }] };
    const refused = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'loose' }, spec: loose };
    const { status } = await kubernetes.call('POST', '/api/v1/namespaces/video/pods', refused);
    expect(status).toBe(403);
  });
});

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const describeWithKubectl = go && hasKubectl ? describe : describe.skip;

describeWithKubectl("the blocks of the chart's page (skipped without Go or kubectl)", () => {
  let kubernetes: Awaited<ReturnType<typeof startKubernetes>>;
  let tools: string;
  beforeAll(async () => {
    tools = await chartTools();
    kubernetes = await startKubernetes();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'video' } };
    expect((await kubernetes.call('POST', '/api/v1/namespaces', namespace)).status).toBe(201);
  }, 3_600_000);
  afterAll(() => kubernetes?.stop());

  const page = blocksOf(readFileSync(join(chart, 'README.md'), 'utf8'));
  /** Runs the block with this text. Without a node no hook ends, so the migration is left out. */
  const runBlock = (text: string) => {
    const [block, ...more] = page.filter((one) => one.text.includes(text));
    expect([block?.language, more]).toEqual(['sh', []]);
    const changed = block?.text.replace(/helm (install|upgrade) /, '$&--no-hooks ');
    const env = {
      ...process.env,
      KUBECONFIG: kubernetes.kubeconfig,
      PATH: `${tools}:${process.env.PATH}`,
    };
    return run('bash', ['-euc', changed ?? ''], { cwd: project, env });
  };

  test('create the Secrets and every object, and add the codec', async () => {
    const status = async (kind: string, name: string) =>
      (await kubernetes.call('GET', `/apis/apps/v1/namespaces/video/${kind}/${name}`)).status;
    await runBlock('helm install video');
    const secrets = await kubernetes.call('GET', '/api/v1/namespaces/video/secrets');
    const { items } = secrets.body as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['video-api', 'video-worker', 'video-migrate']),
    );
    expect(await status('deployments', 'video-api')).toBe(200);
    expect(await status('deployments', 'video-codec')).toBe(404);
    await runBlock('codec.enabled=true');
    expect(await status('deployments', 'video-codec')).toBe(200);
  });
});

/** The kinds of the Prometheus operator. */
async function defineMonitoring(call: Awaited<ReturnType<typeof startKubernetes>>['call']) {
  const { stdout } = await run(go ?? 'go', ['mod', 'download', '-json', operatorModule], {
    cwd: '/',
  });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  for (const kind of ['servicemonitors', 'prometheusrules']) {
    const file = `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`;
    const definition = parse(await readFile(join(folder, file), 'utf8')) as object;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await call('POST', path, definition)).status).toBe(201);
    const served = async () =>
      (await call('GET', `/apis/monitoring.coreos.com/v1/namespaces/default/${kind}`)).status ===
      200;
    await until(`${kind} are served`, served);
  }
}
