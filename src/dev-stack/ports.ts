// Chooses the ports of the stack's parts. A port from the settings must be free. Every other part
// keeps the port of its last start if that port is free, so that links and bookmarks still work.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../commands/command';
import { freePorts, isFree } from '../embedded/ports';

const names = [
  'postgres',
  'temporal',
  'temporalUi',
  'studio',
  'api',
  'apiMetrics',
  'workerMetrics',
  'console',
] as const;
export type Ports = Readonly<Record<(typeof names)[number], number>>;

interface Wish {
  /** The setting that the error names if the port is in use. */
  readonly setting: string;
  readonly host: string;
  /** 0 means any port. */
  readonly port: number;
  /** False if another program runs this part and may already use the port. */
  readonly mustBeFree: boolean;
}

interface Wishes {
  readonly api: Wish;
  readonly studio: Wish;
  readonly console: Wish;
}

export async function choosePorts(dataDir: string, wishes: Wishes): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  // An absent or damaged file only means that the ports are chosen anew.
  const last = await readFile(file, 'utf8')
    .then((text) => JSON.parse(text) as Partial<Ports>)
    .catch((): Partial<Ports> => ({}));
  const fresh = await freePorts(names.length);
  const chosen: Record<string, number> = {};
  for (const [index, name] of names.entries()) {
    const before = last[name];
    const keep = before !== undefined && (await isFree(before, '127.0.0.1'));
    chosen[name] = keep ? before : (fresh[index] ?? 0);
  }
  for (const [name, wish] of Object.entries(wishes)) {
    if (wish.port !== 0) chosen[name] = await insist(wish as Wish);
  }
  await writeFile(file, JSON.stringify(chosen));
  return chosen as Ports;
}

async function insist({ setting, host, port, mustBeFree }: Wish): Promise<number> {
  const isUsable = !mustBeFree || (await isFree(port, host).catch(refuse));
  if (isUsable) return port;
  throw new CommandError(
    `Port ${port} is taken. Stop what listens there, or set ${setting} to another port.`,
  );

  function refuse({ code }: NodeJS.ErrnoException): never {
    const named = `${setting.replace('PORT', 'HOST')} and ${setting}`;
    throw new CommandError(`${host}:${port} cannot be listened on (${code}); see ${named}.`);
  }
}
