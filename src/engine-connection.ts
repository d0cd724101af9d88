// The connection to the workflow engine, on which every call has a time limit by its kind. The
// client's own ways to give a call a limit or its namespace keep them in async-local storage, and
// the first use of that makes every promise of the process dearer until Node 24: measured, a fifth
// of a GET.

import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

// A look at the engine beside a request: long enough for a busy server, short enough to stand in a
// caller's way.
const lookMs = 1_500;
// A cached workflow answers in about 10 ms; a quarter of a second covers a replay and a busy
// machine, and a caller who polls every few seconds does not notice it.
const queryMs = 250;
// What a probe of readiness may take.
const readyMs = 1_000;

/** All of its calls go to one namespace, which is in the metadata of each from the start. */
class LeanConnection extends Connection {
  override withMetadata<T>(_namespace: unknown, call: () => Promise<T>): Promise<T> {
    return call();
  }
}

export function connectEngine(
  access: ConnectionOptions & { readonly namespace: string },
  acceptTimeoutMs: number,
): Connection {
  const limits: Readonly<Record<string, number>> = {
    ExecuteMultiOperation: acceptTimeoutMs,
    PollWorkflowExecutionUpdate: acceptTimeoutMs,
    QueryWorkflow: queryMs,
    GetSystemInfo: readyMs,
    DescribeWorkflowExecution: lookMs,
    GetWorkflowExecutionHistory: lookMs,
    SignalWorkflowExecution: lookMs,
    RequestCancelWorkflowExecution: lookMs,
  };
  const limited: Interceptor = (call, next) => {
    const method = call.method_definition.path.split('/').at(-1) ?? '';
    const limitMs = limits[method];
    const deadline = call.deadline ?? (limitMs ? Date.now() + limitMs : undefined);
    return next(deadline ? { ...call, deadline } : call) as ReturnType<Interceptor>;
  };
  // Outside of the retries: they share the limit.
  const retried = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
  const { namespace, ...address } = access;
  const metadata = { 'temporal-namespace': namespace };
  return LeanConnection.lazy({ ...address, metadata, interceptors: [limited, retried] });
}
