// `npm start`: installs what is missing, builds what is old, then becomes the development stack. It
// stays the same process throughout, so that a signal sent to it meets the one that knows what to
// stop.

import { becomes } from './lib/become.mjs';

await becomes('dev', process.argv.slice(2), { quiet: false });
