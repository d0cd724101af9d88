// Reads what `npm run release:freeze` wrote: one folder for each minor version.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlayedKeys } from './play';
import type { Answered } from './reads';
import type { Frozen, TableRow } from './rows';
import type { SchemaState } from './schema-changes';

export interface Release extends Frozen {
  readonly version: string;
  readonly folder: string;
  readonly names: readonly string[];
  readonly accountId: string;
  readonly keys: PlayedKeys;
  readonly schema: SchemaState;
  readonly answers: readonly Answered[];
  readonly promises: readonly string[];
}

/** The frozen versions, the oldest first. */
export function frozenVersions(): readonly string[] {
  return readdirSync(__dirname)
    .filter((name) => existsSync(join(__dirname, name, 'release.json')))
    .sort(inOrder);
}

const inOrder = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

/**
 * The frozen versions that may run beside this one: the minor version before, and its own, if this is a
 * patch.
 */
export function neighboursOf(version: string, frozen: readonly string[]): readonly string[] {
  const own = version.split('.').slice(0, 2).join('.');
  const before = frozen.filter((one) => inOrder(one, own) < 0).at(-1);
  return frozen.filter((one) => one === before || one === own);
}

/** The changelog begins with the version that this tree is, or becomes. */
export function ownVersion(): string {
  const changelog = readFileSync(join(__dirname, '../../CHANGELOG.md'), 'utf8');
  return /^## (\d\S*)/m.exec(changelog)?.[1] ?? '';
}

export const neighbours = () => neighboursOf(ownVersion(), frozenVersions());

export function frozenRelease(version: string, folder = join(__dirname, version)): Release {
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const lines = (name: string) => text(name).trim().split('\n');
  return {
    ...(JSON.parse(text('release.json')) as Omit<Release, 'rows' | 'answers' | 'promises'>),
    ...{ version, folder, promises: lines('promises.txt') },
    rows: lines('rows.jsonl').map((line) => JSON.parse(line) as TableRow),
    answers: lines('answers.jsonl').map((line) => JSON.parse(line) as Answered),
  };
}

export const asLines = (items: readonly unknown[]) =>
  items.map((item) => `${JSON.stringify(item)}\n`).join('');
