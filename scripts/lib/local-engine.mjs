// A container engine of its own for a test, from Debian's packages: installed once into a cache
// outside of the project, and ended by the id of its process. Images stay in the cache.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { step } from './progress.mjs';
import { root, run } from './run.mjs';

const cache = '/var/cache/video-generation-containers';
const scripts = join(root, 'test/containers/engine');

/** A sentence if no engine can be installed on this machine, otherwise nothing. */
export async function whyNoLocalEngine() {
  if (process.platform !== 'linux' || process.getuid() !== 0) {
    return 'an engine of its own can only be started by root on Linux.';
  }
  const isDebian = await run('apt-get', ['--version']).catch(() => false);
  return isDebian
    ? ''
    : "an engine of its own comes from Debian's packages, and apt-get is missing.";
}

/** Starts the engine, makes the base images, and sets the variables by which `docker` finds it. */
export async function startLocalEngine() {
  mkdirSync(cache, { recursive: true, mode: 0o711 });
  await step('installing a container engine', () =>
    run('sh', [join(scripts, 'packages.sh'), cache]),
  );
  const folders = ['bin', 'sbin', 'libexec/docker'].map((name) => join(cache, 'root/usr', name));
  Object.assign(process.env, {
    PATH: [...folders, process.env.PATH].join(':'),
    DOCKER_HOST: `unix://${cache}/docker.sock`,
    DOCKER_CONFIG: join(cache, 'config'),
  });
  shareProcessor();
  const hadBridge = await hasBridge();
  const daemon = startDaemon();
  const stop = () => stopDaemon(daemon, hadBridge);
  try {
    await untilAnswers(daemon);
    await step(
      'making base images, which takes half an hour the first time, and longer on a busy machine',
      () => run('sh', [join(scripts, 'bases.sh'), cache], { showErrors: true }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

const processor = '/sys/fs/cgroup/cpu';

/**
 * Gives all containers together the processor time of sixteen processes. By default they get that of
 * one, so on a busy machine every container would be slow. Version 2 of the control groups has other
 * files, and usually a system that shares the time.
 */
function shareProcessor() {
  if (!existsSync(join(processor, 'cpu.shares'))) return;
  mkdirSync(join(processor, 'docker'), { recursive: true });
  writeFileSync(join(processor, 'docker/cpu.shares'), String(16 * 1_024));
}

const log = join(cache, 'engine.log');

function startDaemon() {
  const output = openSync(log, 'w');
  return spawn(
    'dockerd',
    [
      ...['--data-root', join(cache, 'data'), '--exec-root', join(cache, 'run')],
      ...['--pidfile', join(cache, 'engine.pid'), '--host', process.env.DOCKER_HOST],
    ],
    { stdio: ['ignore', output, output] },
  );
}

async function untilAnswers(daemon) {
  for (let tries = 0; tries < 60 && daemon.exitCode === null; tries += 1) {
    const answers = await run('docker', ['version']).catch(() => false);
    if (answers) return;
    await pause(1_000);
  }
  throw new Error(`The engine did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

async function stopDaemon(daemon, hadBridge) {
  const ended = new Promise((done) => daemon.once('exit', done));
  if (daemon.exitCode === null && daemon.kill('SIGTERM')) await ended;
  // The engine leaves its bridge behind.
  if (!hadBridge) await run('ip', ['link', 'delete', 'docker0']).catch(() => undefined);
}

const hasBridge = () =>
  run('ip', ['link', 'show', 'docker0']).then(
    () => true,
    () => false,
  );
