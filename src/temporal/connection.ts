// Creates connections to Temporal on which every call has a time limit. The client's own methods
// for a deadline or a namespace use async-local storage. Before Node 24, async-local storage slows
// down every promise of the process: a GET spent a fifth of its time on it.

import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

// For calls during a request. A busy server needs about this time, and a caller waits for it.
const checkMs = 1_500;
// Every other call.
const callMs = 10_000;
// A ping after 15 s and 5 s for its answer: a silent connection is replaced after 20 s. Temporal
// servers close connections that ping more often than every 10 s.
const keepAlive = {
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.keepalive_time_ms': 15_000,
  'grpc.keepalive_timeout_ms': 5_000,
};
// For readiness probes.
const readyMs = 1_000;

/**
 * A connection for one namespace. The namespace is in the connection's metadata from the start, so
 * no call needs async-local storage.
 */
class LeanConnection extends Connection {
  override withMetadata<T>(_namespace: unknown, call: () => Promise<T>): Promise<T> {
    return call();
  }
}

type Access = ConnectionOptions & { readonly namespace: string };
type Limits = Readonly<Record<string, number>>;

/** For the API, whose callers wait for these calls. */
export function lazyConnection(access: Access, acceptTimeoutMs: number): Connection {
  return connectWithin(access, {
    ExecuteMultiOperation: acceptTimeoutMs,
    PollWorkflowExecutionUpdate: acceptTimeoutMs,
    GetSystemInfo: readyMs,
    DescribeWorkflowExecution: checkMs,
    GetWorkflowExecutionHistory: checkMs,
    SignalWorkflowExecution: checkMs,
    RequestCancelWorkflowExecution: checkMs,
  });
}

/** For a worker's own calls: no caller waits, so a busy server has more time. */
export function connectForWorker(access: Access): Connection {
  return connectWithin(access, {});
}

function connectWithin(access: Access, limits: Limits): Connection {
  const limited: Interceptor = (call, next) => {
    const method = call.method_definition.path.split('/').at(-1) ?? '';
    const deadline = call.deadline ?? Date.now() + (limits[method] ?? callMs);
    return next({ ...call, deadline }) as ReturnType<Interceptor>;
  };
  // `limited` is the outer interceptor, so all retries of a call share one deadline.
  const retried = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
  const { namespace, ...address } = access;
  const metadata = { 'temporal-namespace': namespace };
  const interceptors = [limited, retried];
  return LeanConnection.lazy({ ...address, channelArgs: keepAlive, metadata, interceptors });
}
