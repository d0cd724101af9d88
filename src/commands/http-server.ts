// An HTTP server that limits the time, the size and the number of requests and connections. `close`
// lets open requests finish.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { CommandError } from './command';
import { type ConnectionLimits, limitConnections } from './connection-shares';
import { refuseByHeaders, refuseLate, refuseMalformed } from './own-refusals';
import { unifyTarget } from './request-target';

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

// Node's defaults (60 s, 300 s, checked every 30 s) let a slow sender keep a connection open for
// minutes. The keep-alive time is short, because load balancers can easily open new connections.
// The maximum size of the headers is twice the size that browsers send.
const limits = {
  headersTimeout: 10_000,
  // This is the limit for uploads. Other bodies have the limit `bodyMs`.
  requestTimeout: 600_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
  // The handler refuses such a request itself (own-refusals.ts).
  requireHostHeader: false,
};

// The time limit of a body that is not an upload.
const bodyMs = 15_000;

// A caller that does not read its reply holds a connection and memory. At each timeout Node closes
// the connection if nothing was read since the previous timeout. A connection without progress thus
// ends within 15 s.
const unreadMs = 7_500;

// A caller may be refused before its whole body is read. If the rest of the body is not read, the
// system resets the connection and the reply is lost. The rest is therefore read and discarded, as
// nginx does. The discarding ends after 30 s, or 5 s after the last received byte.
const discardMs = 30_000;
const discardIdleMs = 5_000;

interface ReplyLimits {
  /** The time of a reply that has no bytes; each byte adds to it. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  readonly longestMs: number;
  readonly checkedMs: number;
}

// The slowest caller gets a video of 50 MB in half an hour.
const usualReplies: ReplyLimits = {
  graceMs: 30_000,
  bytesPerSecond: 32 * 1024,
  longestMs: 3_600_000,
  checkedMs: 5_000,
};

// When the process stops, requests that still run after this time are cut off. This also affects
// reads that wait (`Prefer: wait`), but a caller can repeat a read.
const finishWithinMs = 10_000;

// A client sends few requests before the first reply. Each one takes memory until its own reply, so a
// connection with more is closed: a few hundred connections could otherwise fill the memory.
const pipelinedMax = 16;

interface ListenOptions extends Partial<ConnectionLimits> {
  /** True for requests whose body may take minutes to arrive. */
  readonly isUpload?: (request: IncomingMessage) => boolean;
  /** Tests set shorter times. */
  readonly replyLimits?: Partial<ReplyLimits>;
}

/** The settings that an error message names if the server cannot listen at its address. */
interface AddressSettings {
  readonly host: string;
  /** Absent if the port is fixed. */
  readonly port?: string;
}

export async function listen(
  handler: RequestListener,
  host: string,
  port: number,
  setting: AddressSettings,
  options: ListenOptions = {},
): Promise<Listening> {
  const { connectionsMax, connectionsPerAddressMax } = options;
  const { isUpload = () => false, replyLimits = {} } = options;
  const replies = { ...usualReplies, ...replyLimits };
  const handle = handleTogether(refuseByHeaders(handler));
  const serve: RequestListener = (request, response) => {
    // A request that comes before the reply to an earlier one of its connection waits for that reply.
    // Node would not tell its own reply, which has no socket yet, that the connection has closed.
    if (!response.socket) return waitForReply(request, response);
    unifyTarget(request);
    if (!isUpload(request)) limitBodyTime(request, response);
    // `unreadMs` applies when the reply is complete but the system has not accepted all of its
    // bytes. After all bytes are written, Node replaces this timeout with the keep-alive timeout.
    response.once('prefinish', () => {
      if (request.socket.writableLength > 0) {
        request.socket.setTimeout(unreadMs);
        limitReplyTime(request, response, replies);
      }
      if (!request.complete) discardRest(request, response);
    });
    // A stream, for example the bytes of a file.
    response.once('pipe', () => limitReplyTime(request, response, replies));
    handle(request, response);
  };
  const waiting = new WeakMap<Socket, number>();
  const waitForReply: RequestListener = (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > pipelinedMax) return void socket.destroy();
    waiting.set(socket, count);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      serve(request, response);
    });
  };
  const server = createServer(limits, serve);
  // With `Expect: 100-continue` a client waits for a 100 before it sends its body. The 100 is sent
  // when the handler starts to read the body. If the request is refused earlier, the client sends
  // no body.
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue();
    });
    serve(request, response);
  });
  server.on('checkExpectation', serve);
  refuseMalformed(server);
  if (connectionsMax) limitConnections(server, { connectionsMax, connectionsPerAddressMax });
  // Node would leave out the headers behind this number, for example an Idempotency-Key. Their size
  // is limited.
  server.maxHeadersCount = 0;
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
 * Collects the requests that arrive in one turn of the event loop, and handles them at the end of
 * the turn. The replies to these requests are then sent together (docs/decisions.md, 28).
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

/** If the body takes too long, answers 408 and ends the connection. */
function limitBodyTime(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  process.nextTick(() => {
    // Most bodies arrive together with their headers and need no timer. When this callback runs,
    // Node has parsed such a body completely, and no handler has read from the body yet.
    if (request.readableLength === Number(length) || request.complete || request.destroyed) return;
    const late = setTimeout(() => {
      refuseLate(request, response);
      if (response.writableFinished) request.socket.destroy();
      else request.socket.destroySoon();
    }, bodyMs);
    request.once('end', () => clearTimeout(late));
    request.once('close', () => clearTimeout(late));
  });
}

/**
 * Ends a connection whose caller takes its reply too slowly. Such a caller would hold the connection
 * and memory for hours, although each of its reads is progress.
 */
function limitReplyTime(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { graceMs, bytesPerSecond, longestMs, checkedMs }: ReplyLimits,
): void {
  const before = socket.bytesWritten - socket.writableLength;
  const since = performance.now();
  const check = setInterval(() => {
    const ms = performance.now() - since;
    const allowedMs = graceMs + ((socket.bytesWritten - before) / bytesPerSecond) * 1_000;
    if (ms > Math.min(allowedMs, longestMs)) socket.destroy();
  }, checkedMs);
  response.once('close', () => clearInterval(check));
}

/**
 * Closes the connection after the reply although a part of the request's body was not read. First
 * only the sending side is closed, and what still arrives is discarded. The bytes are not parsed:
 * thousands of tiny chunks would cost far more than the request.
 */
function discardRest(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  let isClosing = false;
  socket.destroySoon = () => {
    if (request.complete) return Socket.prototype.destroySoon.call(socket);
    if (isClosing) return;
    isClosing = true;
    socket.end();
    socket.setTimeout(discardIdleMs);
    const late = setTimeout(() => socket.destroy(), discardMs);
    socket.once('close', () => clearTimeout(late));
    socket.once('end', () => socket.destroy());
    request.unpipe();
    request.resume();
    socket.resume();
    // Node must have started to read again before its parser is taken off.
    setImmediate(() => takeOffParser(socket));
  };
  response.once('finish', () => socket.destroySoon());
}

function takeOffParser(socket: Socket): void {
  const discard = () => undefined;
  // Because of this listener the bytes come as events. Node's own listener gives them to the parser.
  socket.on('data', discard);
  for (const listener of socket.listeners('data')) {
    if (listener !== discard) socket.off('data', listener as () => void);
  }
}

function bind(server: Server, host: string, port: number, setting: AddressSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const other = setting.port ? `, or set ${setting.port} to another port` : '';
      const taken = `Port ${port} is taken. Stop what listens there${other}.`;
      const named = Object.values(setting).join(' and ');
      const refused = `${host}:${port} cannot be listened on (${error.code}); see ${named}.`;
      reject(new CommandError(error.code === 'EADDRINUSE' ? taken : refused, 1, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}
