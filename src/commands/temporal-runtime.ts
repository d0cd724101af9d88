// Temporal's native core as part of this process: its log lines become ours, its metrics are served
// where only we can reach them, and signals stay with main.

import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { freePorts } from '../embedded/ports';
import type { Logger } from '../telemetry';

// Another program may take a free port before the core does; three times in a row it is something
// else.
const triesMax = 3;

/** Once a process. Answers the port of the core's metrics; null when none were asked for. */
export async function installTemporalRuntime(
  log: Logger,
  { withMetrics }: { readonly withMetrics: boolean },
): Promise<number | null> {
  for (let attempt = 1; ; attempt += 1) {
    const [port] = withMetrics ? await freePorts(1) : [];
    try {
      install(log, port);
      return port ?? null;
    } catch (error) {
      if (port === undefined || attempt === triesMax) throw error;
    }
  }
}

function install(log: Logger, metricsPort: number | undefined): void {
  const metrics = {
    bindAddress: `127.0.0.1:${metricsPort}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  };
  Runtime.install({
    // Otherwise the SDK would stop the worker first, under the tasks that wait for it.
    shutdownSignals: [],
    logger: temporalLogger(log),
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsPort === undefined ? {} : { metrics: { prometheus: metrics } }),
    },
  });
}

function temporalLogger(log: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }: LogEntry) => {
    const { error, taskQueue, workflowId, activityType } = (meta ?? {}) as Record<string, unknown>;
    const fields = { event: 'temporal', taskQueue, task: workflowId, activityType, err: error };
    // Two of our three workers run activities only, and are meant to.
    if (message.startsWith('No workflows registered')) log.debug(fields, message);
    else if (level === 'ERROR') log.error(fields, message);
    else log.warn(fields, message);
  });
}
