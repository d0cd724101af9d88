// A gRPC channel that gives up a hanging attempt to connect. If a network accepts a connection and
// never answers, the library waits for ever (https://github.com/grpc/grpc-node/issues/2785). All
// calls of the process then time out until its next start, also after the network works again. A
// keep-alive does not help, because it needs an established connection.

import {
  Channel,
  type ChannelCredentials,
  type ChannelInterface,
  type ChannelOptions,
  connectivityState,
} from '@grpc/grpc-js';

// A Temporal server answers a new connection within milliseconds.
const connectWithinMs = 10_000;

export function renewingChannel(
  address: string,
  credentials: ChannelCredentials,
  options: ChannelOptions,
): ChannelInterface {
  // Another channel would otherwise get the same hanging attempt from a common pool.
  const ownPool = { ...options, 'grpc.use_local_subchannel_pool': 1 };
  const open = () => new Channel(address, credentials, ownPool);
  let channel = open();
  let connectingSince: number | null = null;
  /** Each call looks for how long the channel has been connecting. */
  const current = (): Channel => {
    const now = performance.now();
    const isConnecting = channel.getConnectivityState(false) === connectivityState.CONNECTING;
    connectingSince = isConnecting ? (connectingSince ?? now) : null;
    if (connectingSince !== null && now - connectingSince > connectWithinMs) {
      channel.close();
      channel = open();
      connectingSince = null;
    }
    return channel;
  };
  return {
    close: () => channel.close(),
    getTarget: () => channel.getTarget(),
    getConnectivityState: (tryToConnect) => channel.getConnectivityState(tryToConnect),
    watchConnectivityState: (...watch) => channel.watchConnectivityState(...watch),
    getChannelzRef: () => channel.getChannelzRef(),
    createCall: (...call) => current().createCall(...call),
  };
}
