// An HTTP server with limits against slow or greedy callers, and a close that lets open requests
// finish.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { CommandError } from './command';

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

// Node's defaults (60 s, 300 s, checked every 30 s) let a slow sender hold a connection for
// minutes. The keep-alive time is short because load balancers reconnect cheaply. The header size
// is twice what a browser sends.
const limits = {
  headersTimeout: 10_000,
  // For the largest bodies; others have `bodyMs`.
  requestTimeout: 600_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
};

// The time for a body, unless it is an upload.
const bodyMs = 15_000;

// A caller that does not read its reply holds a connection and memory. Node closes the connection
// at the second timeout in a row without progress, so after 15 s at most.
const unreadMs = 7_500;

// A caller that is refused before its whole body is read gets its reply only if the rest is read:
// otherwise the system resets the connection. As nginx does, the rest is discarded for at most 30 s,
// and no longer than 5 s after the last byte.
const discardMs = 30_000;
const discardIdleMs = 5_000;

// Requests that still run after this are cut off. A waiting read (`Prefer: wait`) can simply be
// repeated.
const finishWithinMs = 10_000;

interface ListenOptions {
  readonly connectionsMax?: number;
  /** True for requests whose body may take minutes. */
  readonly isUpload?: (request: IncomingMessage) => boolean;
}

/** The settings to name in an error about the address. */
interface AddressSettings {
  readonly host: string;
  readonly port: string;
}

export async function listen(
  handler: RequestListener,
  host: string,
  port: number,
  setting: AddressSettings,
  { connectionsMax, isUpload = () => false }: ListenOptions = {},
): Promise<Listening> {
  const handle = handleTogether(handler);
  const serve: RequestListener = (request, response) => {
    if (!isUpload(request)) limitBodyTime(request, response);
    // The timeout begins when the reply is complete, if the system has not taken all of it by then.
    // Node sets the keep-alive timeout once the reply is written.
    response.once('prefinish', () => {
      if (request.socket.writableLength > 0) request.socket.setTimeout(unreadMs);
      if (!request.complete) discardRest(request);
    });
    handle(request, response);
  };
  const server = createServer(limits, serve);
  // A client that asks first (`Expect: 100-continue`) gets the answer when its body is read. It
  // sends no body if it is refused before.
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue();
    });
    serve(request, response);
  });
  if (connectionsMax) server.maxConnections = connectionsMax;
  server.maxHeadersCount = 100;
  server.maxRequestsPerSocket = 1_000;
  await bind(server, host, port, setting);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cut = setTimeout(() => server.closeAllConnections(), finishWithinMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/**
 * Handles all requests that arrive in one turn of the event loop at its end. Their replies are then
 * sent together (docs/decisions.md, 28).
 */
function handleTogether(handler: RequestListener): RequestListener {
  const waiting: (() => void)[] = [];
  const handleAll = (): void => {
    for (const handle of waiting.splice(0)) handle();
  };
  return (request, response) => {
    if (waiting.length === 0) setImmediate(handleAll);
    waiting.push(() => handler(request, response));
  };
}

/** Ends the connection with a 408, as Node does, if the body takes too long. */
function limitBodyTime(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  process.nextTick(() => {
    // Most bodies arrive with their headers and need no timer. Node has parsed their bytes by now,
    // and nothing has read them.
    if (request.readableLength === Number(length) || request.complete || request.destroyed) return;
    const late = setTimeout(() => {
      if (!response.headersSent) {
        request.socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
      }
      if (response.writableFinished) request.socket.destroy();
      else request.socket.destroySoon();
    }, bodyMs);
    request.once('end', () => clearTimeout(late));
    request.once('close', () => clearTimeout(late));
  });
}

/** Changes how Node closes the connection after its last reply: only the sending side at first. */
function discardRest(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete) return Socket.prototype.destroySoon.call(socket);
    socket.end();
    socket.setTimeout(discardIdleMs);
    const late = setTimeout(() => socket.destroy(), discardMs);
    socket.once('close', () => clearTimeout(late));
    request.once('end', () => socket.destroy());
    request.unpipe();
    request.resume();
  };
}

function bind(server: Server, host: string, port: number, setting: AddressSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken. Stop what listens there, or set ${setting.port} to another port.`;
      const refused = `${host}:${port} cannot be listened on (${error.code}); see ${setting.host} and ${setting.port}.`;
      reject(new CommandError(error.code === 'EADDRINUSE' ? taken : refused, 1, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}
