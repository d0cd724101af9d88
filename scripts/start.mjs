// `npm start`: installs missing packages, builds outdated files, then becomes the development
// stack. The process stays the same, so that a signal reaches the code that can stop everything.

import { becomes } from './lib/become.mjs';

const args = process.argv.slice(2);
await becomes('dev', args, { quiet: args.includes('--help') });
