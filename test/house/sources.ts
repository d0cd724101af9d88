// Reads the project's own files as text for the house tests. Generated and downloaded folders are
// left out.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

export const root = join(__dirname, '../..');

const notOurs = new Set(['node_modules', 'dist', 'coverage']);

/** Returns sorted paths relative to the project's folder, with forward slashes. */
export function filesIn(folder: string, ...endings: readonly string[]): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) return endings.some((ending) => path.endsWith(ending)) ? [path] : [];
      const skipped = notOurs.has(entry.name) || /^(\.|dist\.)/.test(entry.name);
      return entry.isDirectory() && !skipped ? filesIn(path, ...endings) : [];
    })
    .sort();
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A heading in the form of a link: lower case, no punctuation, hyphens for spaces. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** The headings of a page, in the form of links. */
export function headingsOf(path: string): Set<string> {
  const headings = read(path).matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, text = '']) => anchorOf(text)));
}

/**
 * Returns the file without comments, so that a comment about an import is not read as an import.
 * Strings with `//` are kept.
 */
export function codeOf(path: string): string {
  const pattern = /\/\*[\s\S]*?\*\/|(^|[\s;{}(),])\/\/[^\n]*/g;
  return read(path).replace(pattern, (_, before: string | undefined) => before ?? '');
}

interface Import {
  /** A path relative to the project's folder, without its ending, or the name of a package. */
  readonly target: string;
  readonly isOurs: boolean;
  /** The import is erased when the program is compiled. */
  readonly isType: boolean;
}

export function importsOf(path: string): Import[] {
  const code = codeOf(path);
  const found: Import[] = [];
  const take = (name: string, isType: boolean) => {
    const isOurs = name.startsWith('.');
    const place = normalize(join(dirname(path), name))
      .split(sep)
      .join('/');
    found.push({ target: isOurs ? place.replace(/\.(js|ts)$/, '') : name, isOurs, isType });
  };
  const statement =
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[\w*{][^;'"]*?\sfrom\s+)?'([^']+)'/g;
  for (const [, type, name = ''] of code.matchAll(statement)) take(name, type !== undefined);
  const call = /(typeof\s+)?\b(?:require|import)\(\s*'([^']+)'/g;
  for (const [, type, name = ''] of code.matchAll(call)) take(name, type !== undefined);
  return found;
}

/** Returns the files that import each other in a circle; empty if there is no circle. */
export function circleIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const targetsOf = (path: string) =>
    imports.get(path)?.map((target) => (imports.has(target) ? target : `${target}/index`)) ?? [];
  let left = [...imports.keys()];
  for (;;) {
    const inside = new Set(left);
    const imported = new Set(left.flatMap(targetsOf));
    const next = left.filter(
      (path) => imported.has(path) && targetsOf(path).some((target) => inside.has(target)),
    );
    if (next.length === left.length) return left;
    left = next;
  }
}
