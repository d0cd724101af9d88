// The trace of the running code. It is kept in async-local storage, so outgoing requests can send
// its id without a parameter in every function. The service records no spans of its own.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { formatTraceparent } from '../src/telemetry/trace.rules';

const current = new AsyncLocalStorage<string>();

/** Runs work in the trace. If the id is not valid, runs the work without a trace. */
export function inTrace<T>(traceId: string, work: () => Promise<T>): Promise<T> {
  return /^[0-9a-f]{32}$/.test(traceId) ? current.run(traceId, work) : work();
}

/**
 * Returns the header that continues the trace at the receiver of a request. Returns no header
 * outside a trace. The receiver needs a span id as the parent of its own spans, so each request has
 * a new one.
 */
export function traceHeaders(): Readonly<Record<string, string>> {
  const traceId = current.getStore();
  if (traceId === undefined) return {};
  const spanId = randomBytes(8).toString('hex');
  return { traceparent: formatTraceparent({ traceId, spanId }) };
}

type AnyActivity = (input: never) => Promise<unknown>;

/** Activities whose inputs have a trace id. An input without one would not compile. */
type OfTasks<A extends Record<keyof A, AnyActivity>> = {
  [Name in keyof A]: Parameters<A[Name]>[0] extends Traceable ? A[Name] : never;
};

/** Wraps the activities of a task, so that each call runs in the trace of the task. */
export function traced<A extends Record<keyof A, AnyActivity>>(activities: A & OfTasks<A>): A {
  const wrapped = Object.entries<AnyActivity>(activities).map(([name, activity]) => {
    const run: AnyActivity = (input) => inTrace(traceIdOf(input), () => activity(input));
    return [name, run];
  });
  return Object.fromEntries(wrapped) as A;
}

/** The input of an activity. The trace id is a field of the input itself or of the task object. */
type Traceable = { readonly traceId: string } | { readonly object: { readonly trace_id: string } };

/** A workflow of another build may send no trace id. */
function traceIdOf(input: { traceId?: string; object?: { trace_id?: string } }): string {
  return input.traceId ?? input.object?.trace_id ?? '';
}
