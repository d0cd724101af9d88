// What a trace of a task is made of. Every part of the service knows the task's id and its trace's
// id and nothing more, so the spans that others hang theirs on have ids that follow from the
// task's: nobody has to carry them along. Why: docs/decisions.md, 16.

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

/** Takes a span that has ended; null where no traces are kept. */
export type KeepSpan = ((span: Span) => void) | null;

interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

/** A W3C traceparent; null for what is none, or has an id of zeros only. */
export function parseTraceparent(header: string): TraceParent | null {
  if (header === '') return null;
  const [, version, traceId = '', spanId = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header) ?? [];
  if (!version || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId };
}

/**
 * Marked as recorded, because "not recorded" would forbid the other side to record its own part.
 */
export function formatTraceparent({ traceId, spanId }: TraceParent): string {
  return `00-${traceId}-${spanId}-01`;
}

/** `submission`: the API's call that starts the workflow. `task`: from creation to end. */
type TaskSpan = 'submission' | 'task';

/** FNV-1a over 64 bits: well spread, the same everywhere, and no secret. */
export function spanIdOf(taskId: string, span: TaskSpan): string {
  let hash = 0xcbf29ce484222325n;
  for (const char of `${span}:${taskId}`) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return (hash || 1n).toString(16).padStart(16, '0');
}
