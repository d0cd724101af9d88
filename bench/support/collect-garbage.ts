// Loaded into a process before anything else: it collects the garbage of each of its threads every
// few seconds, so that what it has in memory is what it needs.

import { Session } from 'node:inspector';

const everyMs = 3_000;

const session = new Session();
session.connect();
setInterval(() => session.post('HeapProfiler.collectGarbage'), everyMs).unref();
