// The connection to Temporal, with a time limit for every call by its kind. The client's own ways
// to pass a deadline or a namespace use async-local storage, which slows down every promise of the
// process until Node 24; in a GET that was a fifth of the time.

import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

// Calls during a request: long enough for a busy server, short enough for a waiting caller.
const checkMs = 1_500;
// Every other call.
const callMs = 10_000;
// A silent connection is replaced after 20 s. Temporal servers close connections that ping more
// often than every 10 s.
const keepAlive = {
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.keepalive_time_ms': 15_000,
  'grpc.keepalive_timeout_ms': 5_000,
};
// For readiness probes.
const readyMs = 1_000;

/**
 * A connection for one namespace, which is in its metadata from the start. So no call needs
 * async-local storage.
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
  // The limit wraps the retries, which share it.
  const retried = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
  const { namespace, ...address } = access;
  const metadata = { 'temporal-namespace': namespace };
  const interceptors = [limited, retried];
  return LeanConnection.lazy({ ...address, channelArgs: keepAlive, metadata, interceptors });
}
