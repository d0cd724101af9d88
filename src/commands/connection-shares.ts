// Limits the connections of a server, in all and for each address. Otherwise one address could hold
// all of them, even without a key: silent, with half of the headers, or with a slow body.

import type { Server } from 'node:http';
import { countAtOnce } from '../gateway/at-once';
import { addressOf } from '../gateway/auth';

export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** Absent behind a proxy, because one address then brings the calls of all callers. */
  readonly connectionsPerAddressMax?: number | undefined;
}

// Probes, and proxies that run beside the API, call from the machine itself.
const ownAddresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];

/** Closes each connection beyond a limit at once. */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const { connectionsMax, connectionsPerAddressMax } = limits;
  const own = connectionsPerAddressMax ?? connectionsMax;
  const open = countAtOnce({ own, all: connectionsMax });
  // Node's own `maxConnections` would count a connection that is being closed. A burst of one address
  // could then shut out others for a moment.
  server.prependListener('connection', (socket) => {
    const { remoteAddress: ip } = socket;
    // The client has already closed the connection.
    if (ip === undefined) return socket.destroy();
    const isShared = connectionsPerAddressMax === undefined || ownAddresses.includes(ip);
    // A connection with a name of its own counts only among all.
    const name = isShared ? `${ip} ${socket.remotePort}` : addressOf({ ip });
    if (open.enter(name) !== 'entered') return socket.destroy();
    socket.once('close', () => open.leave(name));
  });
}
