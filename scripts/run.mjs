// `npm run api`, `worker`, `studio`, `admin`, `bench`: builds if needed and runs one process. Its
// own messages go to standard error, because standard output belongs to the process.

import { becomes } from './lib/become.mjs';

const [name, ...args] = process.argv.slice(2);
await becomes(name, args, { quiet: true });
