// `npm run api`, `worker`, `studio`, `admin`, `bench`: one process, built first where that is
// needed. What it prints of its own goes to standard error: standard output belongs to the process.

import { becomes } from './lib/become.mjs';

const [name, ...args] = process.argv.slice(2);
await becomes(name, args, { quiet: true });
