// Which ports the stack's parts listen on. One that was asked for must be free; the others are the
// ones of the last start where they still are free, so that links and bookmarks go on working, or
// any free ones.

import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '../embedded/ports';
import { CommandError } from './command';

const names = [
  'postgres',
  'temporal',
  'temporalUi',
  'studio',
  'apiMetrics',
  'workerMetrics',
] as const;
export type Ports = Readonly<Record<(typeof names)[number] | 'api', number>>;

interface Wish {
  /** Its name is in the message when the port is taken. */
  readonly setting: string;
  readonly host: string;
  /** 0: any. */
  readonly port: number;
  /** False where somebody else starts that part, and may have done so already. */
  readonly mustBeFree: boolean;
}

interface Wishes {
  readonly api: Wish;
  readonly studio: Wish;
}

export async function choosePorts(dataDir: string, { api, studio }: Wishes): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  const last = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Partial<Ports>,
    () => ({}) as Partial<Ports>,
  );
  const fresh = await freePorts(names.length + 1);
  const chosen: Record<string, number> = {};
  for (const [index, name] of names.entries()) {
    const before = last[name];
    const keep = before !== undefined && (await isFree('127.0.0.1', before));
    chosen[name] = keep ? before : (fresh[index] ?? 0);
  }
  if (studio.port !== 0) chosen.studio = await insist(studio);
  const asked = api.port !== 0 ? await insist(api) : 0;
  // Any free port was asked for: then the last one is as good, and a restart keeps its address.
  const before = last.api !== undefined && (await isFree('127.0.0.1', last.api)) ? last.api : 0;
  chosen.api = asked || before || (fresh[names.length] ?? 0);
  await writeFile(file, JSON.stringify(chosen));
  return chosen as Ports;
}

async function insist(wish: Wish): Promise<number> {
  if (!wish.mustBeFree || (await isFree(wish.host, wish.port))) return wish.port;
  throw new CommandError(
    `Port ${wish.port} is taken. Stop what listens there, or set ${wish.setting} to another port.`,
  );
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
