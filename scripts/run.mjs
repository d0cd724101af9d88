// `npm run api`, `worker`, `studio`, `admin`, `bench`: builds if needed and runs one process.

import { becomes } from './lib/become.mjs';

const [name, ...args] = process.argv.slice(2);
await becomes(name, args);
