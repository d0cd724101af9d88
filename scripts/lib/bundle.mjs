// Bundles the workflows into one file at the given path. The script runs in its own process,
// because bundling blocks a thread for seconds.

import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './run.mjs';

const { bundleWorkflowCode } = createRequire(import.meta.url)('@temporalio/worker');
const quiet = () => undefined;
const { code } = await bundleWorkflowCode({
  workflowsPath: join(root, 'workflows', 'index.ts'),
  preloadModules: [join(root, 'workflows', 'stack-depth.ts')],
  logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
});
await writeFile(process.argv[2], code);
