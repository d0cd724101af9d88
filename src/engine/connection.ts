// Creates connections to Temporal on which every call has a time limit. This file does not use the
// client's own methods for a deadline or a namespace, because these methods need async-local
// storage. Before Node 24, async-local storage slows down every promise of the process: it took a
// fifth of the time of a GET.

import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { queryLimitMs } from './query-task';
import { renewingChannel } from './renewing-channel';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

// The limit for the start of a workflow. Nobody waits for it, and it is repeated.
const startMs = 5_000;
// The limit for calls during a request, whose caller waits. A busy server needs about this time.
const checkMs = 1_500;
// The limit for every other call.
const callMs = 10_000;
// The client sends a ping every 15 s, and the server has 5 s to answer. So a silent connection is
// replaced after at most 20 s. Temporal servers close connections that ping more often than every
// 10 s.
const keepAlive = {
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.keepalive_time_ms': 15_000,
  'grpc.keepalive_timeout_ms': 5_000,
};
// The limit for calls of readiness probes.
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

/** For the API. The limits are short, because a caller of the API waits for these calls. */
export function lazyConnection(access: Access): Connection {
  return connectWithin(access, {
    StartWorkflowExecution: startMs,
    GetSystemInfo: readyMs,
    DescribeNamespace: readyMs,
    DescribeWorkflowExecution: checkMs,
    // Only the test of a webhook waits for the end of an activity, at most 20 s.
    PollActivityExecution: 22_000,
    SignalWorkflowExecution: checkMs,
    RequestCancelWorkflowExecution: checkMs,
    QueryWorkflow: queryLimitMs,
  });
}

/** For a worker's own calls. The limits are longer, because no caller waits for these calls. */
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
  const channelArgs = { ...keepAlive, channelFactoryOverride: renewingChannel };
  return LeanConnection.lazy({ ...address, channelArgs, metadata, interceptors });
}
