// Downloads a file again and again on several connections. The bytes are counted and not kept, so
// that the client needs little processor time.

import { once } from 'node:events';
import { connect } from 'node:net';
import { requestText } from './http-load';

interface FileLoad {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Returns the received megabytes per second. A megabyte is a million bytes here. */
export async function downloadRate({ url, connections, seconds }: FileLoad): Promise<number> {
  const started = performance.now();
  const endsAt = started + seconds * 1_000;
  const loads = Array.from({ length: connections }, () => downloadUntil(url, endsAt));
  const bytes = (await Promise.all(loads)).reduce((sum, received) => sum + received, 0);
  return bytes / 1e6 / ((performance.now() - started) / 1_000);
}

/**
 * Downloads until `endsAt`, finishes the last file, and returns the number of bytes of all files.
 */
async function downloadUntil(url: string, endsAt: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const text = requestText('GET', pathname, {});
  let bytes = 0;
  let left = -1;
  let failed: Error | undefined;
  const buffer = Buffer.alloc(256 * 1024);
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer,
      callback(received) {
        try {
          if (left < 0) left = bodyBytes(buffer.toString('latin1', 0, received));
          else left -= received;
          bytes += received;
          if (left === 0 && performance.now() < endsAt) ask();
          else if (left === 0) socket.end();
        } catch (error) {
          failed = error as Error;
          socket.destroy();
        }
        return true;
      },
    },
  });
  const ask = () => {
    left = -1;
    socket.write(text);
  };
  /** The number of body bytes that are still missing after the first piece of an answer. */
  const bodyBytes = (piece: string) => {
    const head = piece.slice(0, piece.indexOf('\r\n\r\n') + 4);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const isFile = head.startsWith('HTTP/1.1 200') && length !== undefined;
    if (!isFile) throw new Error(`A download was answered with: ${piece.slice(0, 300)}`);
    return Number(length) - (piece.length - head.length);
  };
  socket.once('connect', ask);
  await once(socket, 'close');
  if (failed) throw failed;
  if (left !== 0) throw new Error('A download was cut off.');
  return bytes;
}
