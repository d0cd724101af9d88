// Which task's trace the code that runs now belongs to, so that a request to the outside carries it
// without every function between handing it on. Ids are passed on always; spans are made only where
// somebody keeps them.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { CompleteAsyncError } from '@temporalio/activity';
import { formatTraceparent, type KeepSpan, type Span, spanIdOf } from '../src/domain/trace';

interface Place {
  readonly traceId: string;
  readonly spanId: string;
  readonly keep: KeepSpan;
}

const place = new AsyncLocalStorage<Place>();

interface TaskTrace {
  readonly taskId: string;
  readonly traceId: string;
}

type Attributes = Record<string, string | number>;

/** Runs work as a span below its task's. */
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

/** Runs a request to the outside as a span below the one that runs, if one does. */
export function inClientSpan<T>(
  name: string,
  attributes: Attributes,
  work: (attributes: Attributes) => Promise<T>,
): Promise<T> {
  const parent = place.getStore();
  return parent ? asSpan(parent, { name, kind: 'client' }, attributes, work) : work(attributes);
}

/** The header that carries the trace to whoever is asked next. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const here = place.getStore();
  return here ? { traceparent: formatTraceparent(here) } : {};
}

async function asSpan<T>(
  { traceId, spanId: parentSpanId, keep }: Place,
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
    const result = await place.run({ traceId, spanId, keep }, () => work(attributes));
    end(false);
    return result;
  } catch (error) {
    // An activity that goes on without its worker is no failure.
    end(!(error instanceof CompleteAsyncError));
    throw error;
  }
}

type AnyActivity = (input: never) => Promise<unknown>;

/**
 * Activities of one task each, every one a span of its task's trace where its input says which that
 * is.
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
 * Where the inputs of activities carry the ids: on themselves, on the task's input, on the task
 * object.
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
