// The ids of a task's trace. Every part of the service knows the task's id and its trace id, and
// the span ids are derived from the task id, so that no part has to pass them on. Why:
// docs/decisions.md, 16.

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

/** Receives each finished span. Null if no traces are collected. */
export type KeepSpan = ((span: Span) => void) | null;

interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** Parses a W3C traceparent. Null if it is malformed or has an id of zeros. */
export function parseTraceparent(header: string): TraceParent | null {
  if (header === '') return null;
  const [, version, traceId = '', spanId = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header) ?? [];
  if (!version || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId };
}

/**
 * The sampled flag is set, because "not sampled" would stop the other side from recording its own
 * part.
 */
export function formatTraceparent({ traceId, spanId }: TraceParent): string {
  return `00-${traceId}-${spanId}-01`;
}

/** `submission`: the API's call that starts the workflow. `task`: the whole life of the task. */
type TaskSpan = 'submission' | 'task';

/** FNV-1a with 64 bits: well distributed and the same in every process. It is not a secret. */
export function spanIdOf(taskId: string, span: TaskSpan): string {
  let hash = 0xcbf29ce484222325n;
  for (const char of `${span}:${taskId}`) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return (hash || 1n).toString(16).padStart(16, '0');
}
