// Starts a receiver of callbacks. The receiver records every request and answers as a test says.

import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly url: string;
}

export interface CallbackSink {
  readonly url: string;
  readonly hostPort: string;
  readonly received: Received[];
  /** Sets the answer to the next requests. */
  answer: (received: Received, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Starts a receiver. With a key and a certificate, the receiver uses https on `localhost`. */
export async function startCallbackSink(tls?: {
  readonly key: string;
  readonly cert: string;
}): Promise<CallbackSink> {
  const receive: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const received = { headers: request.headers, body, url: request.url ?? '' };
      sink.received.push(received);
      sink.answer(received, response);
    });
  };
  const server = tls ? createSecureServer(tls, receive) : createServer(receive);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const hostPort = `${tls ? 'localhost' : '127.0.0.1'}:${port}`;
  const sink: CallbackSink = {
    url: `${tls ? 'https' : 'http'}://${hostPort}/hook`,
    hostPort,
    received: [],
    answer: (_, response) => void response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return sink;
}
