// The files of a page for browsers, by path: those of a folder of public/, and three modules of
// installed packages. The list is made at start, so no path of a request reaches the file system.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { lazily, type PageFile, pageFile } from './page-file';

type Files = Readonly<Record<string, () => PageFile>>;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

// The folder is searched upwards, because the compiled file is one folder deeper than its source.
const publicFolder = lazily(() => join(rootAbove(__dirname), 'public'));

/** The content security policy of a page. Everything else comes from its own host; nothing is inline. */
export function pagePolicy({
  images,
  media,
}: {
  readonly images: string;
  readonly media: string;
}): string {
  return (
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${images}; media-src ${media}; ` +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

/** The files of a folder below the path `prefix`. A page of its own has its index at `/`. */
export function filesOf(folder: string, prefix: string): Files {
  const place = join(publicFolder(), folder);
  const own = readdirSync(place).flatMap((name) => {
    const type = types[extname(name)];
    if (!type) return [];
    const path = name === 'index.html' ? '/' : `${prefix}${name}`;
    return [[path, lazily(() => pageFile(type, readFileSync(join(place, name))))] as const];
  });
  return Object.fromEntries(own);
}

export function vendorFiles(prefix: string): Files {
  return {
    [`${prefix}preact.js`]: vendored('preact/package.json', 'dist/preact.mjs'),
    [`${prefix}hooks.js`]: vendored('preact/package.json', 'hooks/dist/hooks.mjs'),
    [`${prefix}htm.js`]: vendored('htm', 'htm.module.js'),
  };
}

/**
 * A file of an installed package. The path `file` is relative to the folder of the module `found`.
 * Browsers cannot resolve package names, so the name in the import of "preact" is replaced by a
 * path.
 */
function vendored(found: string, file: string): () => PageFile {
  return lazily(() => {
    const code = readFileSync(join(dirname(require.resolve(found)), file), 'utf8');
    return pageFile('text/javascript', code.replace('from"preact"', 'from"./preact.js"'));
  });
}

function rootAbove(folder: string): string {
  return readdirSync(folder).includes('package.json') ? folder : rootAbove(dirname(folder));
}
