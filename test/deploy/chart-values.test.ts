// The values of the Helm chart that adapt it to a cluster: users, labels, machines, volumes, more
// containers, a service account, and the ways to the API.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chartTools,
  describeWithGo,
  everything,
  least,
  type Manifest,
  manifests,
  parts,
  podsOf,
  why,
} from '../support/chart';

describeWithGo(`the values of the chart${why}`, () => {
  beforeAll(async () => {
    await chartTools();
  }, 1_200_000);

  /** Renders the chart with a file of values. */
  const withFile = async (text: string, base = least) => {
    const folder = await mkdtemp(join(tmpdir(), 'video-chart-'));
    const file = join(folder, 'values.yaml');
    await writeFile(file, text);
    return manifests(...base, '--values', file).finally(() => rm(folder, { recursive: true }));
  };
  const podOf = (all: readonly Manifest[], name: string) => {
    const found = podsOf(all).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no pod of ${name}`);
    return found.spec.template;
  };
  const names = [
    ...['video-api', 'video-worker-main', 'video-worker-next'],
    ...['video-codec', 'video-console'],
  ];
  const migration = 'video-migrate';

  test('the values of all pods reach every pod', async () => {
    const all = await manifests(...everything);
    for (const name of [...names, migration]) {
      const { metadata, spec } = podOf(all, name);
      expect(metadata.labels).toMatchObject({ 'cost-centre': 'films', team: expect.any(String) });
      expect(metadata.annotations).toMatchObject({ 'sidecar.istio.io/inject': 'true' });
      expect(spec).toMatchObject({
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000650000,
          runAsGroup: 1000650000,
          fsGroup: 1000650000,
        },
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        affinity: { nodeAffinity: expect.anything() },
        initContainers: [{ name: 'sql-proxy', restartPolicy: 'Always' }],
        automountServiceAccountToken: false,
      });
      expect(spec.volumes).toContainEqual({ name: 'mine', secret: { secretName: 'mine' } });
      const [own] = spec.containers;
      expect(own?.env.map((one) => one.name)).toContain('POD_IP');
      expect(own?.volumeMounts).toContainEqual({
        name: 'mine',
        mountPath: '/mine',
        readOnly: true,
      });
    }
    for (const name of names) {
      expect(
        podOf(all, name)
          .spec.containers.map((one) => one.name)
          .slice(1),
      ).toEqual(['logs']);
    }
    // A job ends only when all its containers have ended.
    expect(podOf(all, migration).spec.containers).toHaveLength(1);
  });

  test('a value of one process adds to the maps of all pods and replaces their lists', async () => {
    const all = await manifests(...everything);
    expect(podOf(all, 'video-api').spec).toMatchObject({
      priorityClassName: 'system-cluster-critical',
      tolerations: [{ key: 'films', operator: 'Exists' }],
    });
    for (const name of [...names.slice(1), migration]) {
      expect(podOf(all, name).spec).not.toHaveProperty('priorityClassName');
    }
    expect(podOf(all, 'video-worker-main').spec).toMatchObject({
      nodeSelector: { 'kubernetes.io/os': 'linux', disk: 'fast' },
      tolerations: [{ key: 'disk', operator: 'Exists' }],
    });
    const next = podOf(all, 'video-worker-next');
    expect(next.metadata.labels).toMatchObject({ team: 'next' });
    expect(next.spec).toMatchObject({ nodeSelector: { disk: 'slow' } });
    expect(next.spec.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(podOf(all, 'video-codec').metadata.annotations).toMatchObject({ only: 'codec' });
    expect(podOf(all, 'video-api').metadata.annotations).not.toHaveProperty('only');
    expect(podOf(all, migration).metadata.labels).toMatchObject({ once: 'true', team: 'films' });
    expect(podOf(all, migration).spec.containers[0]?.resources).toEqual({
      requests: { cpu: '200m', memory: '300Mi' },
      limits: { memory: '600Mi' },
    });
  });

  test('a user, a group and whole security contexts can be taken out, so that the cluster chooses', async () => {
    const chosen = await withFile(
      'pod: { securityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } }',
      parts,
    );
    for (const { spec } of podsOf(chosen)) {
      expect(spec.template.spec.securityContext).toEqual({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
    }
    const none = await withFile(
      'pod: { securityContext: null, containerSecurityContext: null }',
      parts,
    );
    expect(podsOf(none)).toHaveLength(6);
    for (const { spec } of podsOf(none)) {
      expect(spec.template.spec).not.toHaveProperty('securityContext');
      expect(spec.template.spec.containers[0]).not.toHaveProperty('securityContext');
    }
  });

  test('common labels are on every object and in no selector, and cannot change how pods are found', async () => {
    const labels = 'commonLabels: { cost-centre: films, app.kubernetes.io/name: other }';
    const all = await withFile(labels, parts);
    expect(all.length).toBeGreaterThan(20);
    for (const { kind, metadata } of all) {
      expect([kind, metadata.name, metadata.labels]).toEqual([
        kind,
        metadata.name,
        expect.objectContaining({
          'cost-centre': 'films',
          'app.kubernetes.io/name': 'video-generation-service',
        }),
      ]);
    }
    const plain = await manifests(...parts);
    const selectors = (some: readonly Manifest[]) => some.map(({ spec }) => spec?.selector);
    expect(selectors(all)).toEqual(selectors(plain));
    const pool = podOf(
      await withFile('workers: { main: { pod: { labels: { video/pool: b } } } }'),
      'video-worker-main',
    );
    expect(pool.metadata.labels['video/pool']).toBe('main');
  });

  test('a Deployment gets the annotations by which a reloader restarts it after a change of a Secret', async () => {
    const deployments = (await manifests(...everything)).filter(
      ({ kind }) => kind === 'Deployment',
    );
    expect(deployments.map(({ metadata }) => metadata.name)).toContain('video-console');
    for (const { metadata } of deployments) {
      expect(metadata.annotations).toEqual({ 'reloader.stakater.com/auto': 'true' });
    }
  });

  test('a change of the catalogue replaces APIs and workers, whatever annotations the values have', async () => {
    const own = 'pod: { annotations: { checksum/catalogue: same } }';
    for (const name of ['video-api', 'video-worker-main']) {
      const sums = [];
      for (const content of ['a: 1', 'a: 2']) {
        const all = await withFile(
          `${own}\ncatalogue: { content: "${content}" }`,
          least.slice(0, -2),
        );
        sums.push(podOf(all, name).metadata.annotations?.['checksum/catalogue']);
      }
      expect(new Set([...sums, 'same']).size).toBe(3);
    }
  });

  test('pods spread over the topologies of the values', async () => {
    const over = (all: readonly Manifest[], name: string) =>
      podOf(all, name).spec.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey);
    const few = await manifests(...least);
    const many = await manifests(...everything);
    for (const name of ['video-api', 'video-worker-main']) {
      expect(over(few, name)).toEqual(['kubernetes.io/hostname']);
      expect(over(many, name)).toEqual(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']);
    }
  });

  test('pods have the service account of the values, and the migration has one that exists before an install', async () => {
    const accounts = (all: readonly Manifest[]) =>
      all.filter(({ kind }) => kind === 'ServiceAccount');
    const created = await manifests(...everything);
    const role = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/films' };
    expect(
      accounts(created).map(({ metadata, automountServiceAccountToken }) => [
        metadata.name,
        metadata.annotations,
        automountServiceAccountToken,
      ]),
    ).toEqual([
      ['films', role, false],
      [
        'films-migrate',
        {
          ...role,
          'helm.sh/hook': 'pre-install,pre-upgrade',
          'helm.sh/hook-weight': '-1',
          'helm.sh/hook-delete-policy': 'before-hook-creation',
        },
        false,
      ],
    ]);
    for (const name of names) expect(podOf(created, name).spec.serviceAccountName).toBe('films');
    expect(podOf(created, migration).spec.serviceAccountName).toBe('films-migrate');

    const own = await withFile('serviceAccount: { name: mine, automount: true }', parts);
    expect(accounts(own)).toEqual([]);
    for (const { spec } of podsOf(own)) {
      expect(spec.template.spec).toMatchObject({
        serviceAccountName: 'mine',
        automountServiceAccountToken: true,
      });
    }
    for (const { spec } of podsOf(await manifests(...parts))) {
      expect(spec.template.spec).not.toHaveProperty('serviceAccountName');
      expect(spec.template.spec.automountServiceAccountToken).toBe(false);
    }
    const named = await withFile('serviceAccount: { create: true }');
    expect(podOf(named, 'video-api').spec.serviceAccountName).toBe('video');
  });

  test('no API and no worker run with 0 replicas, and no autoscaler starts one', async () => {
    const text = `
api: { replicas: 0, autoscaling: { enabled: true } }
workerDefaults: { autoscaling: { enabled: true } }
workers: { main: { replicas: 0 } }
`;
    const all = await withFile(text);
    const numbers = podsOf(all).map(({ metadata, spec }) => [metadata.name, spec.replicas]);
    expect(Object.fromEntries(numbers)).toMatchObject({ 'video-api': 0, 'video-worker-main': 0 });
    expect(all.map(({ kind }) => kind)).not.toContain('HorizontalPodAutoscaler');
  });

  test('a service for callers outside of the cluster has the annotations of the values and no port of metrics', async () => {
    const service = (all: readonly Manifest[]) =>
      all.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'video-api');
    const outside = service(await manifests(...everything));
    expect(outside?.metadata.annotations).toEqual({ 'load-balancer': 'internal' });
    expect(outside?.spec).toMatchObject({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    expect(outside?.spec.ports?.map(({ name }) => name)).toEqual(['http']);
    const inside = service(await manifests(...least));
    expect(inside?.spec.type).toBe('ClusterIP');
    expect(inside?.spec).not.toHaveProperty('externalTrafficPolicy');
    expect(inside?.spec.ports?.map(({ name }) => name)).toEqual(['http', 'metrics']);
  });

  test('an ingress has every host, and no certificate if its controller has one', async () => {
    const ingress = async (own: string) => {
      const text = `
settings: { TRUSTED_PROXIES: 1 }
api: { ingress: { enabled: true, hosts: [a.example.com, b.example.com], ${own} } }
`;
      const all = await withFile(text);
      const { env = [] } = podOf(all, 'video-api').spec.containers[0] ?? {};
      const { rules, tls } = all.find(({ kind }) => kind === 'Ingress')?.spec ?? {};
      return { env, hosts: rules?.map(({ host }) => host), tls };
    };
    const hosts = ['a.example.com', 'b.example.com'];
    const withSecret = await ingress('tlsSecret: tls');
    expect(withSecret).toMatchObject({ hosts, tls: [{ hosts, secretName: 'tls' }] });
    expect(withSecret.env).toContainEqual({ name: 'PUBLIC_URL', value: 'https://a.example.com' });
    const without = await ingress('tlsAtController: true');
    expect(without).toMatchObject({ hosts, tls: undefined });
  });
});
