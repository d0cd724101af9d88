// Starts a proxy in front of PostgreSQL. The proxy cuts the connection at a chosen statement:
// before the statement arrives, or after its execution and before its answer.

import { connect as connectTo, createServer, type Server, type Socket } from 'node:net';

export type When = 'before' | 'after';

/** The proxy. It passes everything on until the chosen statement. */
export interface Cutter {
  readonly url: string;
  /**
   * Chooses a statement by its number, where the next one is 1, or by a text that it contains, so many
   * times. `onCut` is called before a connection is cut.
   */
  cutAt(statement: number | string, when: When, times?: number, onCut?: () => void): void;
  /** True if the statement was reached. */
  hasCut(): boolean;
  close(): Promise<void>;
}

export async function startCutter(target: string): Promise<Cutter> {
  const { hostname, port } = new URL(target);
  let left = 0;
  let text: string | null = null;
  let when: When = 'before';
  let more = 0;
  let cut = false;
  let toldOfCut: (() => void) | undefined;
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connectTo(Number(port), hostname);
    let mute = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    const cutOff = () => {
      toldOfCut?.();
      end();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      const count = left > 0 ? statementsIn(bytes) : 0;
      const isIt = text === null ? count > 0 && left - count <= 0 : bytes.includes(text);
      left -= count;
      if (isIt) {
        cut = true;
        left = 0;
        more -= 1;
        if (more <= 0) text = null;
        if (when === 'before') return cutOff();
        mute = true;
      }
      upstream.write(bytes);
    });
    // The first byte of the answer proves that the statement was executed.
    upstream.on('data', (bytes) => (mute ? cutOff() : void client.write(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url: url.href,
    cutAt(statement, at, times = 1, onCut) {
      toldOfCut = onCut;
      more = times;
      left = typeof statement === 'number' ? statement : 0;
      text = typeof statement === 'string' ? statement : null;
      when = at;
      cut = false;
    },
    hasCut: () => cut,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Counts statements in the client's messages: simple queries, and the Sync that ends an extended
 * query.
 */
function statementsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    if (type === 'Q' || type === 'S') count += 1;
  }
  return count;
}
