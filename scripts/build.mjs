// `npm run build`: builds dist if it is older than its sources.

import { buildIfStale } from './lib/build.mjs';
import { fail } from './lib/run.mjs';

await buildIfStale().catch(fail);
