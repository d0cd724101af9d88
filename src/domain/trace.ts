// The ids of a task's trace. Every part of the service knows the task id and the trace id. The span
// ids are derived from the task id, so no part has to pass them on (docs/decisions.md, 16).

export interface Span {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly failed: boolean;
}

/** Receives each finished span; null if no traces are collected. */
export type KeepSpan = ((span: Span) => void) | null;

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

/**
 * `submission` is the API's call that starts the workflow; `task` is the whole life of the task.
 */
type TaskSpan = 'submission' | 'task';

/**
 * The FNV-1a hash with 64 bits: it is well distributed and the same in every process. Span ids are
 * no secrets.
 */
export function spanIdOf(taskId: string, span: TaskSpan): string {
  let hash = 0xcbf29ce484222325n;
  for (const char of `${span}:${taskId}`) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return (hash || 1n).toString(16).padStart(16, '0');
}
