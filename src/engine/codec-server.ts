// Decrypts payloads for the Temporal UI, in Temporal's codec protocol. The browser posts the
// payloads of a page, and shows the decrypted payloads of the answer. A caller that reaches this
// server can read every task. So by default the server listens on this machine only, and it refuses
// requests from pages of other origins than the UI's. It only decrypts: nobody needs a server that
// makes payloads which our workers would trust.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Payload, PayloadCodec } from '@temporalio/common';

// The longest body. A page of a workflow's history in the UI has only a few hundred payloads.
const bodyBytesMax = 8 * 1024 * 1024;

interface WirePayloads {
  readonly payloads?: readonly { metadata?: Record<string, string>; data?: string }[];
}

export function createCodecHandler(codec: PayloadCodec, uiOrigin: string | null): RequestListener {
  return (request, response) => {
    answer(request, response, codec, uiOrigin).catch(() => {
      const message = 'The body is no JSON with payloads, or is larger than 8 MiB.';
      reply(response, 400, { message });
    });
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  codec: PayloadCodec,
  uiOrigin: string | null,
): Promise<void> {
  if (uiOrigin) {
    response.setHeader('access-control-allow-origin', uiOrigin);
    response.setHeader('access-control-allow-credentials', 'true');
    response.setHeader('access-control-allow-headers', 'authorization,content-type,x-namespace');
  }
  if (request.method === 'OPTIONS') return void response.writeHead(204).end();
  const { origin } = request.headers;
  if (origin !== undefined && origin !== uiOrigin) {
    return reply(response, 403, { message: `${origin} is not the origin of TEMPORAL_UI_URL.` });
  }
  if (origin === undefined && !isLocalName(request.headers.host ?? '')) {
    return reply(response, 403, { message: 'Call this server by an address or a local name.' });
  }
  const action = new URL(request.url ?? '/', 'http://localhost').pathname.split('/').at(-1);
  if (request.method !== 'POST' || action !== 'decode') {
    return reply(response, 404, { message: 'POST /decode.' });
  }
  const { payloads = [] } = JSON.parse(await bodyOf(request)) as WirePayloads;
  const answered = await Promise.all(payloads.map((payload) => readable(codec, fromWire(payload))));
  reply(response, 200, { payloads: answered.map(toWire) });
}

/** A payload that these keys do not decrypt stays as it is, so that the others are still shown. */
async function readable(codec: PayloadCodec, payload: Payload): Promise<Payload> {
  const [decoded = payload] = await codec.decode([payload]).catch(() => []);
  return decoded;
}

/**
 * True for an address, and for a name without a dot, such as that of a container. The name of a
 * page on the internet that leads here by its DNS has a dot.
 */
function isLocalName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || (name !== '' && !name.includes('.'));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error('The body is larger than 8 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

// In JSON, the bytes of a payload and of its metadata are base64.
function fromWire({ metadata = {}, data = '' }: { metadata?: object; data?: string }): Payload {
  const entries = Object.entries(metadata).map(([name, value]) => [name, bytes(String(value))]);
  return { metadata: Object.fromEntries(entries), data: bytes(data) };
}

function toWire({ metadata, data }: Payload): object {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  return { metadata: Object.fromEntries(entries), data: base64(data) };
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}

function base64(value: Uint8Array | null | undefined): string {
  return Buffer.from(value ?? []).toString('base64');
}
