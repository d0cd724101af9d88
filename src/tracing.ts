// Hands finished spans to a collector (OTLP over HTTP). Off unless an address is configured, and
// nothing is loaded then. Spans come with their ids and times; the SDK batches them, samples by its
// own OTEL_* variables, repeats and sends.

import type { KeepSpan, Span } from './domain/trace';
import type { Logger } from './telemetry';

interface TracingOptions {
  /** The collector's base address; null: no traces are kept. */
  readonly endpoint: string | null;
  readonly service: { readonly name: string; readonly version: string };
  readonly log: Logger;
}

interface Tracing {
  readonly keep: KeepSpan;
  /** Sends what is left, within a limit: a collector that is away must not hold up a stop. */
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

  const told = toldSeldom(log);
  api.diag.setLogger(told, api.DiagLogLevel.WARN);
  // The SDK asks for ids while a span is made; the span that is being handed over has its own.
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
      const sent = provider.shutdown().catch((error: unknown) => told.error(String(error)));
      await Promise.race([sent, late]);
    },
  };
}

const seldomMs = 60_000;

/**
 * The SDK's own complaints, most of them about a collector that is away: one a minute is enough.
 */
function toldSeldom(log: Logger) {
  let quietUntil = 0;
  const tell = (message: string) => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + seldomMs;
    const said = message.slice(0, 500);
    log.warn({ event: 'trace_trouble', said }, 'traces cannot be handed over');
  };
  const nothing = () => undefined;
  return { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
}
