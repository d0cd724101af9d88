// Starts LiteLLM's proxy, whose video routes call the stand-in generator. At the first use, pip
// installs LiteLLM into the cache. If that fails, the row is left out and the reason is printed.

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
// With this variable, LiteLLM reads the prices from a file of its package. Without it, LiteLLM
// downloads a price list when it starts.
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
    async fill(folder) {
      const patient = { timeout: installWithinMs };
      await execute('python3', ['-m', 'venv', folder], patient);
      const wanted = `litellm[proxy]==${series}.*`;
      await execute(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '-q', wanted], patient);
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
