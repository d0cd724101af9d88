// What a release freezes under test/releases: its program, and whether it is that of this tree.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { root } from '../run.mjs';

/** 1.2.3 is frozen as 1.2: a patch changes nothing of it. */
export const folderOf = (version) =>
  join(root, 'test', 'releases', version.split('.').slice(0, 2).join('.'));

export const isFrozen = (version) => existsSync(join(folderOf(version), 'release.json'));

const emptyMap = Buffer.from('{"version":3,"sources":[],"mappings":""}').toString('base64');

/** The files that an API, a worker or a command loads, without the maps, by their paths. */
function program() {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
    readdirSync(join(root, 'dist', folder), { encoding: 'utf8', recursive: true })
      .filter((name) => /\.(js|json)$/.test(name))
      .map((name) => `dist/${folder}/${name}`),
  );
  const every = ['package.json', 'dist/workflow-bundle.js', ...files].sort();
  const textOf = (path) => {
    const text = readFileSync(join(root, path), 'utf8');
    if (path === 'package.json') return withoutDevelopment(text);
    return text.replaceAll(
      /\n\/\/# sourceMappingURL=(data:.*,)?.*/g,
      // The SDK wants a map in the bundle of the workflows; this one is empty.
      (_, inline) => (inline ? `\n//# sourceMappingURL=${inline}${emptyMap}` : ''),
    );
  };
  return JSON.stringify(Object.fromEntries(every.map((path) => [path, textOf(path)])));
}

/** A new version of a development tool, or another command for developers, makes no other program. */
function withoutDevelopment(text) {
  const { scripts: _scripts, devDependencies: _tools, ...about } = JSON.parse(text);
  return `${JSON.stringify(about, null, 2)}\n`;
}

export function packedProgram() {
  const text = Buffer.from(program());
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  return brotliCompressSync(text, { params });
}

/** What is to be frozen before this tree, which is built, can be released as this version. */
export function unfrozen(version) {
  const folder = folderOf(version);
  const again = `npm run release:freeze -- ${version.split('.').slice(0, 2).join('.')}`;
  if (!isFrozen(version)) return [`freeze what is released: ${again}`];
  const { steps } = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'));
  const { hashOf, migrations } = createRequire(import.meta.url)(
    join(root, 'dist', 'src', 'database', 'migrations.js'),
  );
  const now = migrations.map((step) => ({ name: step.name, hash: hashOf(step) }));
  const isPatch = !/^\d+\.\d+\.0$/.test(version);
  if (JSON.stringify(steps) !== JSON.stringify(now)) {
    return isPatch
      ? ['release the next minor version: a patch has no step of the schema']
      : [`freeze again, because the schema is another one: ${again}`];
  }
  // A patch has another program, and upgrades are tested from the first one.
  if (isPatch) return [];
  const packed = brotliDecompressSync(readFileSync(join(folder, 'program.json.br')));
  return packed.toString('utf8') === program()
    ? []
    : [`freeze again, because the program is another one: ${again}`];
}
