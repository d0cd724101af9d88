// A TCP proxy between two parts. The proxy can make the link slow, silent or broken. It can also
// run a trap at a certain message. The trap runs just before the message is passed on, in the
// middle of the message, just after its answer has reached the proxy, or just after the answer to
// the commit of its transaction. A connection that is silent for good is never closed.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export const linkFaults = [
  'slow',
  'reset',
  'falls silent',
  'falls silent for good',
  'cut short',
  'refused',
  'trickle',
] as const;
export type LinkFault = (typeof linkFaults)[number];

interface Trap {
  /** The trap runs at the first message that contains all of these texts. */
  readonly containing: readonly string[];
  readonly when: 'before' | 'within' | 'after' | 'committed';
  spring(): void;
}

export interface Link {
  readonly address: string;
  readonly port: number;
  /** The number of times that the current or last fault, or the trap, has affected traffic. */
  readonly fired: number;
  break(fault: LinkFault): void;
  mend(): void;
  set(trap: Trap): void;
  close(): Promise<void>;
}

const slowMs = 500;
const cutAfterBytes = 200;
// The rate is 1.6 kB a second. A create then takes almost a second, and a statement that contains a
// task takes two or three seconds.
const trickle = { bytes: 16, everyMs: 10 };

/** `target` is called for each connection, because the port may have changed. */
export async function startLink(target: () => { host: string; port: number }): Promise<Link> {
  const sockets = new Set<Socket>();
  // These connections pass nothing on any more, not even the close of one end.
  const silent = new WeakSet<Socket>();
  let fault: LinkFault | null = null;
  let trap: Trap | null = null;
  let fired = 0;

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (fault === 'refused') {
      fired += 1;
      near.resetAndDestroy();
      return;
    }
    const far = connect({ ...target(), allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      if (fault === 'falls silent for good') silent.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('end', () => {
        if (!silent.has(socket)) socket.end();
      });
      socket.on('close', () => {
        sockets.delete(socket);
        if (silent.has(socket)) return;
        near.destroy();
        far.destroy();
      });
    }
    let awaited: Trap | null = null;
    let uncommitted: Trap | null = null;
    near.on('data', (bytes) => {
      if (uncommitted && bytes.includes('COMMIT')) awaited = uncommitted;
      if (trap && holds(trap, bytes)) {
        const sprung = trap;
        trap = null;
        fired += 1;
        if (sprung.when === 'within') far.write(bytes.subarray(0, bytes.length / 2));
        if (sprung.when === 'committed') uncommitted = sprung;
        else if (sprung.when === 'after') awaited = sprung;
        else return sprung.spring();
      }
      pass(bytes, far, near);
    });
    far.on('data', (bytes) => {
      if (awaited) {
        // The request has had its effect. The proxy drops its answer and all later ones.
        awaited.spring();
        return;
      }
      pass(bytes, near, far);
    });
  });

  function pass(bytes: Buffer, to: Socket, from: Socket): void {
    if (silent.has(to)) {
      fired += 1;
      return;
    }
    if (!fault) {
      if (!to.write(bytes)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
      return;
    }
    fired += 1;
    if (fault === 'slow') setTimeout(() => to.write(bytes), slowMs);
    if (fault === 'reset') for (const socket of [to, from]) socket.resetAndDestroy();
    if (fault === 'trickle') trickleTo(to, bytes);
    if (fault === 'cut short') {
      to.write(bytes.subarray(0, cutAfterBytes));
      to.end();
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    port,
    get fired() {
      return fired;
    },
    break(next) {
      fault = next;
      fired = 0;
      // Open connections are closed, and new ones are refused.
      if (fault === 'refused') for (const socket of sockets) socket.resetAndDestroy();
      if (fault === 'falls silent for good') for (const socket of sockets) silent.add(socket);
    },
    mend() {
      fault = null;
      // Connections that fell silent would hang for ever, so they are closed. Connections that are
      // silent for good stay open: their owner has to detect the silence. New connections work
      // again.
      for (const socket of sockets) if (!silent.has(socket)) socket.destroy();
    },
    set(next) {
      trap = next;
      fired = 0;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const trickling = new WeakMap<Socket, Buffer>();

/** Passes the bytes on in order, a few at a time, while the other end is open. */
function trickleTo(to: Socket, bytes: Buffer): void {
  const left = trickling.get(to);
  trickling.set(to, Buffer.concat([left ?? Buffer.alloc(0), bytes]));
  if (left) return;
  const timer = setInterval(() => {
    const waiting = trickling.get(to) ?? Buffer.alloc(0);
    if (to.destroyed || waiting.length === 0) {
      clearInterval(timer);
      trickling.delete(to);
      return;
    }
    to.write(waiting.subarray(0, trickle.bytes));
    trickling.set(to, waiting.subarray(trickle.bytes));
  }, trickle.everyMs);
}

function holds({ containing }: Trap, bytes: Buffer): boolean {
  return containing.every((text) => bytes.includes(text));
}
