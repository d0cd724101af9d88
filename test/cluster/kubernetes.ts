// A Kubernetes API server with its store, without nodes: it accepts or refuses objects, and runs
// nothing. The server is built from its Go module, the store comes from Debian's package.

import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../../src/embedded/cache';
import { startChild } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import { go } from '../support/chart';
import { until } from '../support/until';

const run = promisify(execFile);
export const version = '1.34.1';
const token = 'administrator';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export async function startKubernetes() {
  const server = await cached({
    name: `kube-apiserver-${version}`,
    needs: ['kube-apiserver'],
    fill: buildServer,
  });
  const store = await cached({ name: 'etcd-debian-trixie', needs: ['etcd'], fill: unpackStore });
  const folder = await mkdtemp(join(tmpdir(), 'video-kubernetes-'));
  const [client = 0, peer = 0, port = 0] = await freePorts(3);
  const etcd = startChild(join(store, 'etcd'), {
    args: [
      ...['--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', `http://127.0.0.1:${client}`],
      ...['--advertise-client-urls', `http://127.0.0.1:${client}`],
      ...['--listen-peer-urls', `http://127.0.0.1:${peer}`],
      ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
      ...['--initial-cluster', `default=http://127.0.0.1:${peer}`],
    ],
  });
  const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const key = join(folder, 'key.pem');
  await writeFile(key, keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await writeFile(join(folder, 'tokens.csv'), `${token},admin,1,system:masters\n`, { mode: 0o600 });
  const api = startChild(join(server, 'kube-apiserver'), {
    args: [
      `--etcd-servers=http://127.0.0.1:${client}`,
      ...['--bind-address=127.0.0.1', `--secure-port=${port}`, `--cert-dir=${folder}`],
      ...[
        '--service-account-issuer=https://video.example.com',
        `--service-account-key-file=${key}`,
      ],
      `--service-account-signing-key-file=${key}`,
      ...['--authorization-mode=RBAC', `--token-auth-file=${join(folder, 'tokens.csv')}`],
      // No controller makes service accounts.
      '--disable-admission-plugins=ServiceAccount',
      '--service-cluster-ip-range=10.96.0.0/16',
    ],
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, configFor(port), { mode: 0o600 });
  const call = (method: string, path: string, body?: object) =>
    callServer(port, method, path, body);
  const stop = async () => {
    await api.stop('SIGTERM');
    await etcd.stop('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const isReady = async () => {
      if (!api.isAlive()) throw new Error(api.lastWords());
      return (await call('GET', '/readyz').catch(() => null))?.status === 200;
    };
    await until('the API server is ready', isReady, 180_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, call, stop };
}

function configFor(port: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'it',
        cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
      },
    ],
    users: [{ name: 'it', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it', namespace: 'video' } }],
    'current-context': 'it',
  });
}

function callServer(port: number, method: string, path: string, body?: object): Promise<Answer> {
  return new Promise((done, failed) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false };
    const sent = request(options, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      reply.on('end', () => done({ status: reply.statusCode ?? 0, body: parsed(text) }));
    });
    sent.on('error', failed).end(body && JSON.stringify(body));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The module needs its parts by their releases, because its own copies of them are not published. */
async function buildServer(folder: string): Promise<void> {
  process.stderr.write(`building kube-apiserver ${version}; this takes a quarter of an hour\n`);
  const program = go ?? 'go';
  const { stdout } = await run(
    program,
    ['mod', 'download', '-json', `k8s.io/kubernetes@v${version}`],
    {
      cwd: tmpdir(),
    },
  );
  const { Dir: module } = JSON.parse(stdout) as { Dir: string };
  const source = join(folder, 'source');
  await cp(module, source, { recursive: true });
  await run('chmod', ['-R', 'u+w', source]);
  const env = { ...process.env, GOWORK: 'off', CGO_ENABLED: '0', GOFLAGS: '-mod=mod -p=1' };
  const { stdout: mod } = await run(program, ['mod', 'edit', '-json'], { cwd: source, env });
  const { Replace: replaced } = JSON.parse(mod) as { Replace: { Old: { Path: string } }[] };
  const part = `v0.${version.slice(2)}`;
  const parts = replaced.map(({ Old: { Path: path } }) => `-replace=${path}=${path}@${part}`);
  await run(program, ['mod', 'edit', ...parts], { cwd: source, env });
  const build = [
    'go',
    'build',
    '-trimpath',
    '-ldflags',
    `-s -w -X k8s.io/component-base/version.gitVersion=v${version}`,
    '-o',
    join(folder, 'kube-apiserver'),
  ];
  await run('nice', ['-n', '19', program, ...build.slice(1), './cmd/kube-apiserver'], {
    cwd: source,
    env,
    maxBuffer: 2 ** 26,
  });
  await rm(source, { recursive: true });
}

async function unpackStore(folder: string): Promise<void> {
  const apt = join(folder, 'apt');
  await mkdir(join(apt, 'lists/partial'), { recursive: true });
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const list = join(apt, 'sources.list');
  await writeFile(list, `deb [signed-by=${keys}] http://deb.debian.org/debian trixie main\n`);
  const options = [
    ...[`Dir::Etc::sourcelist=${list}`, 'Dir::Etc::sourceparts=-'],
    ...[`Dir::State::lists=${join(apt, 'lists')}`, `Dir::Cache=${apt}`, 'APT::Sandbox::User=root'],
  ].flatMap((one) => ['-o', one]);
  await run('apt-get', [...options, '-qq', 'update']);
  await run('apt-get', [...options, '-qq', 'download', 'etcd-server'], { cwd: apt });
  const [debian = ''] = (await readdir(apt)).filter((name) => name.endsWith('.deb'));
  await run('dpkg-deb', ['-x', join(apt, debian), join(apt, 'root')]);
  await rename(join(apt, 'root/usr/bin/etcd'), join(folder, 'etcd'));
  await chmod(join(folder, 'etcd'), 0o755);
  await rm(apt, { recursive: true });
}
