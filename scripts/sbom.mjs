// `npm run -s sbom` prints the list of production packages (SBOM, CycloneDX) from the lock file,
// without network. `npm sbom --omit=dev` would leave out every package that is needed both in
// production and for development. So npm gets a lock file that contains only production packages.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, root } from './lib/run.mjs';

const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const withoutDevelopment = (manifest) => ({ ...manifest, devDependencies: undefined });

try {
  process.stdout.write(sbom());
} catch (error) {
  fail(error);
}

function sbom() {
  const temporary = mkdtempSync(join(tmpdir(), 'video-sbom-'));
  try {
    const manifest = withoutDevelopment(read('package.json'));
    const lock = read('package-lock.json');
    const { '': project, ...all } = lock.packages;
    const production = Object.entries(all).filter(([, { dev }]) => !dev);
    const packages = { '': withoutDevelopment(project), ...Object.fromEntries(production) };
    // npm uses the name of the folder as the name of the project.
    const folder = join(temporary, manifest.name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 };
    const { status, stdout, stderr, error } = spawnSync('npm', args, options);
    if (status !== 0) throw error ?? new Error(`npm sbom failed:\n${stderr}`);
    return stdout;
  } finally {
    rmSync(temporary, { recursive: true });
  }
}
