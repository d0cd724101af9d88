// Wraps a provider's client so that the duration and outcome of each call are reported as an event.

import type { ActivityEvents, UpstreamOperation } from '../events';
import type { Provider } from './provider';
import { UpstreamFault } from './provider';

export function withReports(
  provider: Provider,
  channel: string,
  events: Pick<ActivityEvents, 'upstream'>,
): Provider {
  async function timed<T>(
    operation: UpstreamOperation,
    taskId: string | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const started = performance.now();
    const report = (outcome: string, { code, param }: Partial<UpstreamFault> = {}) => {
      const ms = performance.now() - started;
      events.upstream({ channel, operation, outcome, ms, code, param, taskId });
    };
    try {
      const answer = await work();
      report('ok');
      return answer;
    } catch (error) {
      if (error instanceof UpstreamFault) report(error.kind, error);
      throw error;
    }
  }
  return {
    ...provider,
    create: (input, ...to) => timed('create', input.taskId, () => provider.create(input, ...to)),
    read: (upstreamId, taskId) => timed('read', taskId, () => provider.read(upstreamId, taskId)),
    readMany: (upstreamIds, take) =>
      timed('list', undefined, () => provider.readMany(upstreamIds, take)),
    list: (input, window) => timed('list', input.taskId, () => provider.list(input, window)),
    cancel: (upstreamId, taskId) =>
      timed('cancel', taskId, () => provider.cancel(upstreamId, taskId)),
  };
}
