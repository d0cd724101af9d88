// Sends finished spans to a collector (OTLP over HTTP). If no endpoint is configured, the SDK is
// not loaded. Spans already have their ids and times. The SDK batches, samples and sends them, and
// reads its own OTEL_* variables.

import type { KeepSpan, Span } from '../domain/trace';
import type { Logger } from './logger';

interface TracingOptions {
  /** The base URL of the collector; null if traces are off. */
  readonly endpoint: string | null;
  readonly service: { readonly name: string; readonly version: string };
  readonly log: Logger;
}

interface Tracing {
  readonly keep: KeepSpan;
  /**
   * Sends the remaining spans. The time is limited, because a collector that is down must not delay
   * a stop.
   */
  close(): Promise<void>;
}

const closeWithinMs = 2_000;

export function createTracing({ endpoint, service, log }: TracingOptions): Tracing {
  if (endpoint === null) return { keep: null, close: async () => undefined };
  const api = require('@opentelemetry/api') as typeof import('@opentelemetry/api');
  const sdk =
    require('@opentelemetry/sdk-trace-base') as typeof import('@opentelemetry/sdk-trace-base');
  const { resourceFromAttributes } =
    require('@opentelemetry/resources') as typeof import('@opentelemetry/resources');
  const { OTLPTraceExporter } =
    require('@opentelemetry/exporter-trace-otlp-http') as typeof import('@opentelemetry/exporter-trace-otlp-http');

  const diagnostics = throttled(log);
  api.diag.setLogger(diagnostics, api.DiagLogLevel.WARN);
  // The SDK asks for ids when it creates a span, and gets the ids of the finished span.
  let next: Span | undefined;
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': service.name,
      'service.version': service.version,
      'process.pid': process.pid,
    }),
    idGenerator: {
      generateTraceId: () => next?.traceId ?? '',
      generateSpanId: () => next?.spanId ?? '',
    },
    spanProcessors: [
      new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })),
    ],
  });
  const tracer = provider.getTracer(service.name, service.version);
  const kinds = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };
  return {
    keep(finished) {
      next = finished;
      const { name, kind, traceId, parentSpanId, startMs, endMs, attributes, failed } = finished;
      const parent = parentSpanId && { traceId, spanId: parentSpanId, traceFlags: 1 };
      const context = parent
        ? api.trace.setSpanContext(api.ROOT_CONTEXT, { ...parent, isRemote: true })
        : api.ROOT_CONTEXT;
      const options = { kind: kinds[kind], startTime: startMs, attributes };
      const span = tracer.startSpan(name, options, context);
      if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end(endMs);
    },
    async close() {
      const late = new Promise((resolve) => setTimeout(resolve, closeWithinMs).unref());
      const sent = provider.shutdown().catch((error: unknown) => diagnostics.error(String(error)));
      await Promise.race([sent, late]);
    },
  };
}

const seldomMs = 60_000;

/**
 * Logs errors of the SDK, at most one error per minute. Most errors are about a collector that is
 * down.
 */
function throttled(log: Logger) {
  let quietUntil = Number.NEGATIVE_INFINITY;
  const warn = (message: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + seldomMs;
    const said = message.slice(0, 500);
    log.warn({ event: 'trace_failure', said }, 'traces cannot be handed over');
  };
  const nothing = () => undefined;
  return { error: warn, warn: warn, info: nothing, debug: nothing, verbose: nothing };
}
