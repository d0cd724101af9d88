// A DNS server on its own port. It gives prepared answers by name and record type.

import { createSocket } from 'node:dgram';

export interface NameServer {
  readonly address: string;
  /**
   * The addresses of each name. The first list answers the first look-up, and so on. The last list
   * answers all later look-ups. A name that is not in the map does not exist.
   */
  readonly names: Map<string, readonly (readonly string[])[] | 'silent' | 'broken'>;
  close(): Promise<void>;
}

const typeAaaa = 28;

export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const names: NameServer['names'] = new Map();
  const asked = new Map<string, number>();
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query);
    const known = names.get(name);
    if (known === 'silent') return;
    if (known === 'broken') return socket.send(reply(query, end, 2, []), from.port, from.address);
    const key = `${name} ${type}`;
    const turn = asked.get(key) ?? 0;
    asked.set(key, turn + 1);
    const addresses = known?.[Math.min(turn, known.length - 1)] ?? [];
    const records = addresses
      .filter((address) => address.includes(':') === (type === typeAaaa))
      .map((address) => record(type, bytesOf(address)));
    socket.send(reply(query, end, known ? 0 : 3, records), from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    names,
    close: () => new Promise((done) => socket.close(() => done())),
  };
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A reply with the question, the response code, and records that refer to the name in it. */
function reply(query: Buffer, end: number, code: number, records: readonly Buffer[]): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(records.length, 6);
  head.fill(0, 8, 12);
  return Buffer.concat([head, ...records]);
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) =>
    text ? text.split(':').map((group) => parseInt(group, 16)) : [];
  const [left, right] = [groups(head), groups(tail)];
  const middle = new Array<number>(8 - left.length - right.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...left, ...middle, ...right].entries()) {
    bytes.writeUInt16BE(group, index * 2);
  }
  return bytes;
}
