// Builds the bundle that the worker loads into its sandbox, and checks the content of the bundle.
// The bundle may contain our workflows, the rules they use, and Temporal's own code. A validation
// library or a Node module in the bundle is the result of a wrong import.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleAsBuilt } from '../support/bundle';
import { root } from './sources';

// The bundle had 1.81 MB when this limit was set, and the limit is a quarter larger. Nearly all of
// the bundle is Temporal's own code and its source map.
const bytesMax = 2_270_000;

let modules: string[];
let code: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-bundle-'));
  code = await readFile(await bundleAsBuilt(join(folder, 'workflows.js')), 'utf8');
  await rm(folder, { recursive: true });
  modules = modulesIn(code);
});

test('the workflow bundle contains the workflows and the rules that they use, and no other code of this project', () => {
  const ours = modules.filter((path) => !path.includes('node_modules/'));
  expect(ours).toContain('workflows/generate-video.ts');
  expect(ours).toContain('src/tasks/task.rules.ts');
  const inside =
    /^(webpack\/|workflows\/|src\/[\w-]+\/[\w-]+\.rules\.ts$|src\/assert\.ts$|src\/contract\/vocabulary\.ts$)/;
  expect(ours.filter((path) => !inside.test(path))).toEqual([]);
});

test("the workflow bundle contains only Temporal's packages and their dependencies", () => {
  const packages = modules.flatMap(
    (path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  expect([...new Set(packages)].sort()).toEqual([
    '@temporalio/common',
    '@temporalio/workflow',
    'long',
    'ms',
    'nexus-rpc',
  ]);
});

test('the workflow bundle requires no Node module', () => {
  expect(modules.filter((path) => /^external |(^|\/)node:/.test(path))).toEqual([]);
  expect(code).not.toMatch(/\brequire\((["'])node:/);
});

test('the workflow bundle is smaller than its size limit', () => {
  expect(Buffer.byteLength(code)).toBeLessThan(bytesMax);
  // A bundle of less than half the limit would mean that the test read the wrong file.
  expect(Buffer.byteLength(code)).toBeGreaterThan(bytesMax / 2);
});

/** Returns the paths of all bundled modules, from the source map. */
function modulesIn(code: string): string[] {
  const inline = /sourceMappingURL=data:application\/json;[^,]*base64,([A-Za-z0-9+/=]+)/.exec(code);
  const { sources } = JSON.parse(Buffer.from(inline?.[1] ?? '', 'base64').toString()) as {
    sources: string[];
  };
  return sources.map((path) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path));
}
