// Starts one more API or worker beside those of the bench.

import { freePorts } from '../../src/embedded/ports';
import type { World } from '../world';

export async function startAnother({ stack }: World, kind: 'api' | 'worker', name: string) {
  const [port = 0, metrics = 0] = await freePorts(2);
  const ports = {
    METRICS_PORT: String(metrics),
    ...(kind === 'api' ? { PORT: String(port) } : {}),
  };
  const part = stack.another(name, kind, ports);
  await part.start();
  const readyUrl = `http://127.0.0.1:${kind === 'api' ? port : metrics}/readyz`;
  return { readyUrl, stop: () => part.stop() };
}
