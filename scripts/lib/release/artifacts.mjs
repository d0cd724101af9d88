// Builds what a release publishes: both packages, the chart, and the images where an engine can.
// The same commit gives the same bytes, except for the images and the bill of the service.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, tool } from '../run.mjs';

const name = 'video-generation-service';

/**
 * npm's tarball of the TypeScript package. `drafts` is a folder for what is not published. A registry
 * takes a proof of where the package was built only if the package names that repository.
 */
export async function packTypescript(folder, drafts, repository) {
  const source = join(root, 'clients/typescript');
  const draft = join(drafts, 'typescript');
  await run(tool('tsc'), ['-p', source, '--outDir', join(draft, 'dist')]);
  cpSync(join(source, 'README.md'), join(draft, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(draft, 'LICENSE'));
  const about = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const where = { type: 'git', url: `git+${repository}.git`, directory: 'clients/typescript' };
  const whole = { ...about, ...(repository ? { repository: where } : {}) };
  writeFileSync(join(draft, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  await run('npm', ['pack', '--silent', '--pack-destination', folder, draft]);
}

/** The wheel and the source distribution of the Python package, by the package's own backend. */
export async function packPython(folder) {
  const program =
    'import sys; sys.path.insert(0, sys.argv[2]); import build_wheel as backend; ' +
    'backend.build_wheel(sys.argv[1]); backend.build_sdist(sys.argv[1])';
  await run('python3', ['-B', '-c', program, folder, join(root, 'clients/python')]);
}

/** The chart as Helm packs it: a tarball whose only folder has the name of the chart. */
export async function packChart(folder, version) {
  const sameBytes = '--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX';
  await run('tar', [
    ...sameBytes.split(' '),
    `--transform=s,^[.],${name},`,
    '--use-compress-program=gzip -n',
    ...['-cf', join(folder, `${name}-chart-${version}.tgz`)],
    ...['-C', join(root, 'deploy/helm'), '.', '-C', root, './LICENSE'],
  ]);
}

const all = ['linux/amd64', 'linux/arm64'];

/** What to do before this engine builds the images for all platforms. */
export function imagesLackedBy({ platforms = [], why }) {
  const lacking = all.filter((one) => !platforms.includes(one)).join(' and ');
  return lacking ? [`let an engine build the images for ${lacking}${why ? `: ${why}` : ''}`] : [];
}

/** Returns why no image can be built here, or the platforms for which the engine builds. */
export async function whatEngineBuilds() {
  const about = await run('docker', ['buildx', 'inspect', '--bootstrap']).catch(() => '');
  if (!about) return { why: 'no container engine with buildx answers' };
  if (/^Driver:\s+docker$/m.test(about))
    return { why: 'this builder cannot write image files, so run docker buildx create --use' };
  const platforms = all.filter((one) => about.includes(one));
  return platforms.length > 0 ? { platforms } : { why: 'the engine builds for neither platform' };
}

/** Both images, each as one OCI archive with all platforms. */
export async function packImages(folder, { version, commit, source }, platforms) {
  for (const [target, image] of [
    ['service', name],
    ['studio', 'video-generation-studio'],
  ]) {
    const said = { VERSION: version, COMMIT: commit, SOURCE: source };
    await run('docker', [
      ...['buildx', 'build', '--pull', '--target', target, '--platform', platforms.join()],
      ...Object.entries(said).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
      ...['--tag', `${image}:${version}`],
      ...['--output', `type=oci,dest=${join(folder, `${image}-${version}.oci.tar`)}`, root],
    ]);
  }
}

/** The bills of materials, by file name. The images share one: what is in either. */
export async function bills(version) {
  const service = await run(process.execPath, [join(root, 'scripts/sbom.mjs')]);
  const described = readFileSync(join(root, 'clients/python/pyproject.toml'), 'utf8');
  const [, needs = ''] = /^dependencies = \[(.*)\]$/m.exec(described) ?? [];
  const python = [...needs.matchAll(/"([\w-]+)([^"]*)"/g)].map(([, package_, range]) => ({
    type: 'library',
    name: package_,
    purl: `pkg:pypi/${package_}`,
    properties: [{ name: 'version range', value: range }],
  }));
  const image = { type: 'container', name, version };
  return {
    [`${name}-${version}.cdx.json`]: service,
    [`${name}-chart-${version}.cdx.json`]: bill('application', `${name}-chart`, version, [image]),
    [`video-generation-client-npm-${version}.cdx.json`]: bill(
      'library',
      'video-generation-client',
      version,
      [],
    ),
    [`video-generation-client-python-${version}.cdx.json`]: bill(
      'library',
      'video-generation-client',
      version,
      python,
    ),
  };
}

function bill(type, of, version, components) {
  const component = { type, name: of, version };
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component },
    components,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
