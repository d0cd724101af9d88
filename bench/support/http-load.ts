// A small load generator. Each connection is kept open and sends one request at a time. Every
// answer is checked. The code is simple, because the generator shares the processors with the
// measured service.

import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

interface Load {
  readonly url: string;
  readonly connections: number;
  /** The load ends after this many requests or seconds. */
  readonly until: { readonly requests: number } | { readonly seconds: number };
  /** Returns the text of the whole request. The arguments count requests and connections from 0. */
  readonly request: (index: number, connection: number) => string;
  /** Throws if the answer is not as expected. The bench then fails. */
  readonly check: (reply: Reply, index: number) => void;
}

interface LoadResult {
  readonly perSecond: number;
  readonly requests: number;
  /** The sorted times of the requests in milliseconds. */
  readonly latencies: readonly number[];
}

export async function runLoad(load: Load): Promise<LoadResult> {
  const { hostname, port } = new URL(load.url);
  const latencies: number[] = [];
  let next = 0;
  const started = performance.now();
  const isOver = () =>
    'requests' in load.until
      ? next >= load.until.requests
      : performance.now() - started >= load.until.seconds * 1_000;
  const client = async (connection: number) => {
    const wire = await openWire(hostname, Number(port));
    try {
      while (!isOver()) {
        const index = next;
        next += 1;
        const sent = performance.now();
        const reply = await wire.exchange(load.request(index, connection));
        latencies.push(performance.now() - sent);
        load.check(reply, index);
      }
    } finally {
      wire.close();
    }
  };
  await Promise.all(Array.from({ length: load.connections }, (_, at) => client(at)));
  const seconds = (performance.now() - started) / 1_000;
  latencies.sort((a, b) => a - b);
  return { perSecond: latencies.length / seconds, requests: latencies.length, latencies };
}

/** Returns the text of a request. The body is sent as JSON. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    host: 'bench',
    ...headers,
    ...(text
      ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
      : {}),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}

interface Wire {
  exchange(text: string): Promise<Reply>;
  close(): void;
}

export async function openWire(host: string, port: number): Promise<Wire> {
  let socket = await opened(host, port);
  let received = Buffer.alloc(0);
  let waiting: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  let isLast = false;
  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = undefined;
  };
  const take = (chunk: Buffer<ArrayBuffer>) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    try {
      const found = replyIn(received);
      if (!found) return;
      received = received.subarray(found.length);
      isLast = /\r\nconnection: *close/i.test(found.reply.head);
      waiting?.resolve(found.reply);
      waiting = undefined;
    } catch (error) {
      fail(error as Error);
    }
  };
  const listen = () => {
    const mine = socket;
    mine.on('data', take);
    mine.on('error', fail);
    mine.on('close', () => {
      if (mine === socket) fail(new Error('The connection was closed before the answer.'));
    });
  };
  listen();
  return {
    async exchange(text) {
      if (isLast) {
        // The last answer had `connection: close`, so the server closes this connection.
        const before = socket;
        socket = await opened(host, port);
        before.destroy();
        received = Buffer.alloc(0);
        isLast = false;
        listen();
      }
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(text);
      });
    },
    close: () => socket.destroy(),
  };
}

function opened(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

const headEnd = Buffer.from('\r\n\r\n');

/** The first complete reply in the bytes received. All measured servers send a content length. */
function replyIn(bytes: Buffer): { reply: Reply; length: number } | null {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (size === undefined) throw new Error(`An answer without a length:\n${head}`);
  const length = end + headEnd.length + Number(size);
  if (bytes.length < length) return null;
  const body = bytes.toString('utf8', end + headEnd.length, length);
  return { reply: { status: Number(head.slice(9, 12)), head, body }, length };
}
