// Sets up Temporal's native core in this process. The core writes to our log and serves its metrics
// on a local port. The core does not handle signals.

import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { freePorts } from '../embedded/ports';
import type { Logger } from '../telemetry/logger';

// Another program may take the free port before the core binds it. Three failures in a row must
// have another cause.
const triesMax = 3;

/** Call once per process. Returns the port of the core's metrics, or null without metrics. */
export async function installTemporalRuntime(
  log: Logger,
  { withMetrics }: { readonly withMetrics: boolean },
): Promise<number | null> {
  for (let attempt = 1; ; attempt += 1) {
    const [port] = withMetrics ? await freePorts(1, 'own') : [];
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
    // The core handles no signal. Otherwise the core would stop the worker before main.ts can stop
    // the process in order.
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
    // Two of our three workers run activities only, so this warning is expected.
    if (message.startsWith('No workflows registered')) log.debug(fields, message);
    else if (level === 'ERROR') log.error(fields, message);
    else log.warn(fields, message);
  });
}
