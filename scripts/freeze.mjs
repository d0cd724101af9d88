// `npm run release:freeze -- 1.2`: writes anew what later versions are tested against, under
// test/releases/1.2: the program, the hashes of the schema's steps, recorded names and histories, what
// callers and operators are promised by name, and rows in every state with the answers to all reads.

import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIfStale } from './lib/build.mjs';
import { step } from './lib/progress.mjs';
import { folderOf, packedProgram } from './lib/release/frozen.mjs';
import { fail, root, run, tool } from './lib/run.mjs';

async function main() {
  const [version = ''] = process.argv.slice(2);
  if (!/^\d+\.\d+$/.test(version)) {
    throw new Error('Usage: npm run release:freeze -- VERSION\nVERSION is like 1.2.');
  }
  const tagged = await run('git', ['tag', '--list', `v${version}.0`]);
  if (tagged) throw new Error(`${version}.0 is released, so what is frozen of it stays as it is.`);
  await buildIfStale();
  const folder = folderOf(`${version}.0`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await step('the program', async () => {
    writeFileSync(join(folder, 'program.json.br'), packedProgram());
  });
  copyFileSync(join(root, 'catalogue.yaml'), join(folder, 'catalogue.yaml'));
  const env = { ...process.env, FREEZE_INTO: folder };
  await step('names, histories, rows and answers', () =>
    run(tool('jest'), ['--selectProjects', 'freeze', '--forceExit', '--maxWorkers=1'], {
      showErrors: true,
      env,
    }),
  );
  for (const name of readdirSync(folder).sort()) {
    const { size } = statSync(join(folder, name));
    process.stdout.write(`  ${name.padEnd(24)} ${size.toLocaleString('en').padStart(10)} bytes\n`);
  }
}

await main().catch(fail);
