// Tests `npm run sbom`. The command lists the production packages of the lock file. It needs no
// registry.

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

test('the SBOM has exactly the production packages of the lock file', () => {
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
  const listed = components.map(({ purl }) =>
    decodeURIComponent(purl.replace(/^pkg:npm\/|\?.*$/g, '')),
  );
  expect(new Set(listed)).toEqual(new Set(locked));
  // The tests need this package too, but it is a production package.
  expect(listed).toContainEqual(expect.stringMatching(/^@temporalio\/worker@/));
  expect(listed).not.toContainEqual(expect.stringMatching(/^jest@/));
});
