// A receiver of callbacks: remembers every request and answers as it is told.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly url: string;
}

export interface CallbackSink {
  readonly url: string;
  readonly hostPort: string;
  readonly received: Received[];
  /** Replaces what the next requests are answered. */
  answer: (received: Received, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startCallbackSink(): Promise<CallbackSink> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const received = { headers: request.headers, body, url: request.url ?? '' };
      sink.received.push(received);
      sink.answer(received, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const sink: CallbackSink = {
    url: `http://127.0.0.1:${port}/hook`,
    hostPort: `127.0.0.1:${port}`,
    received: [],
    answer: (_, response) => void response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return sink;
}
