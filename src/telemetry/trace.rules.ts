// The trace id of a task, which callers may give and which requests of the service pass on, in the
// W3C header `traceparent`.

interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/**
 * Parses a W3C traceparent. Returns null if the header is empty or malformed, or if an id is all
 * zeros.
 */
export function parseTraceparent(header: string): TraceParent | null {
  if (header === '') return null;
  const [, version, traceId = '', spanId = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header) ?? [];
  if (!version || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId };
}

/**
 * The sampled flag is always set. Without the flag, the receiver might not record its own part of
 * the trace.
 */
export function formatTraceparent({ traceId, spanId }: TraceParent): string {
  return `00-${traceId}-${spanId}-01`;
}
