// The trace context of the running code. The context is kept in async-local storage. So outgoing
// requests can send it without a parameter in every function. Trace ids are always passed on. Spans
// are recorded only if a collector is configured.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { CompleteAsyncError } from '@temporalio/activity';
import { formatTraceparent, type KeepSpan, type Span, spanIdOf } from '../src/domain/trace';

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly keep: KeepSpan;
}

const current = new AsyncLocalStorage<SpanContext>();

interface TaskTrace {
  readonly taskId: string;
  readonly traceId: string;
}

type Attributes = Record<string, string | number>;

/**
 * Runs work in a child span of the task. If the trace id is not valid, runs the work without a
 * span.
 */
export function inTrace<T>(
  { taskId, traceId }: TaskTrace,
  name: string,
  keep: KeepSpan,
  work: (attributes: Attributes) => Promise<T>,
): Promise<T> {
  if (!/^[0-9a-f]{32}$/.test(traceId)) return work({});
  const parent = { traceId, spanId: spanIdOf(taskId, 'task'), keep };
  return asSpan(parent, { name, kind: 'internal' }, { 'video.task.id': taskId }, work);
}

/**
 * Runs an outgoing request in a child span of the current span. If there is no current span, runs
 * the request without a span.
 */
export function inClientSpan<T>(
  name: string,
  attributes: Attributes,
  work: (attributes: Attributes) => Promise<T>,
): Promise<T> {
  const parent = current.getStore();
  return parent ? asSpan(parent, { name, kind: 'client' }, attributes, work) : work(attributes);
}

/**
 * Returns the header that continues the trace at the receiver of a request. Returns no header if
 * there is no current span.
 */
export function traceHeaders(): Readonly<Record<string, string>> {
  const here = current.getStore();
  return here ? { traceparent: formatTraceparent(here) } : {};
}

async function asSpan<T>(
  { traceId, spanId: parentSpanId, keep }: SpanContext,
  what: Pick<Span, 'name' | 'kind'>,
  attributes: Attributes,
  work: (attributes: Attributes) => Promise<T>,
): Promise<T> {
  const spanId = randomBytes(8).toString('hex');
  const startMs = Date.now();
  const end = (failed: boolean) =>
    keep?.({
      ...what,
      traceId,
      spanId,
      parentSpanId,
      startMs,
      endMs: Date.now(),
      attributes,
      failed,
    });
  try {
    const result = await current.run({ traceId, spanId, keep }, () => work(attributes));
    end(false);
    return result;
  } catch (error) {
    // An activity that is completed asynchronously has not failed.
    end(!(error instanceof CompleteAsyncError));
    throw error;
  }
}

type AnyActivity = (input: never) => Promise<unknown>;

/**
 * Wraps the activities of a task, so that each call of an activity becomes a span of the task's
 * trace.
 */
export function traced<A extends Record<keyof A, AnyActivity>>(activities: A, keep: KeepSpan): A {
  const wrapped = Object.entries<AnyActivity>(activities).map(([name, activity]) => {
    const run: AnyActivity = (input) => {
      const trace = traceOf(input);
      return trace ? inTrace(trace, name, keep, () => activity(input)) : activity(input);
    };
    return [name, run];
  });
  return Object.fromEntries(wrapped) as A;
}

/**
 * The input of an activity. The task id and the trace id are fields of the input itself or of the
 * object `input` inside it. The trace id can also be in the task object.
 */
interface Traceable {
  readonly taskId?: string;
  readonly traceId?: string;
  readonly input?: TaskTrace;
  readonly object?: { readonly trace_id: string };
}

function traceOf(input: Traceable | undefined): TaskTrace | null {
  const taskId = input?.taskId ?? input?.input?.taskId;
  const traceId = input?.traceId ?? input?.input?.traceId ?? input?.object?.trace_id;
  return taskId && traceId ? { taskId, traceId } : null;
}
