// LiteLLM's proxy, the usual way to put one API in front of many services, with its video routes in
// front of our stand-in. It is installed by pip into the cache on first use; where that cannot be
// done there is no peer, and the reason is told.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../../src/embedded/cache';
import { startChild, untilReady } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import type { World } from '../world';

export interface Peer {
  readonly url: string;
  readonly apiKey: string;
  readonly version: string;
  stop(): Promise<void>;
}

const series = '1.106';
const apiKey = 'sk-bench';
const installWithinMs = 8 * 60_000;
const execute = promisify(execFile);

export async function startPeer({ folder, generator }: World): Promise<Peer | { why: string }> {
  let python: string;
  let version: string;
  try {
    python = join(await installed(), 'bin', 'python');
    const found = await execute(python, ['-c', versionScript]);
    version = found.stdout.trim();
  } catch (error) {
    return { why: String(error).split('\n')[0] ?? 'unknown' };
  }
  const config = join(folder, 'litellm.json');
  writeFileSync(config, JSON.stringify(configFor(generator.url)));
  const [port = 0] = await freePorts(1);
  const child = startChild(python, {
    args: ['-c', serveScript, '--config', config, '--port', String(port), '--host', '127.0.0.1'],
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => (await fetch(`${url}/health/liveliness`)).ok;
  await untilReady('LiteLLM', child, isReady, 120_000);
  return { url, apiKey, version, stop: () => child.stop('SIGKILL') };
}

const versionScript = 'from importlib.metadata import version; print(version("litellm"))';
// Prices from its own file: it would otherwise fetch a list from the network as it starts.
const serveScript = [
  'import os',
  'os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"',
  'from litellm import run_server',
  'run_server()',
].join('\n');

function installed(): Promise<string> {
  return cached({
    name: `litellm-${series}`,
    needs: ['bin/python'],
    async fill(place) {
      const patient = { timeout: installWithinMs };
      await execute('python3', ['-m', 'venv', place], patient);
      const wanted = `litellm[proxy]==${series}.*`;
      await execute(join(place, 'bin', 'python'), ['-m', 'pip', 'install', '-q', wanted], patient);
    },
  });
}

function configFor(upstream: string) {
  return {
    model_list: [
      {
        model_name: 'sora-2',
        litellm_params: { model: 'openai/sora-2', api_base: `${upstream}/v1`, api_key: 'none' },
      },
    ],
    general_settings: { master_key: apiKey },
  };
}
