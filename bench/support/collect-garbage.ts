// Preloaded into a process: collects the garbage of each thread every few seconds, so that its
// memory is what it needs.

import { Session } from 'node:inspector';

const everyMs = 3_000;

const session = new Session();
session.connect();
setInterval(() => session.post('HeapProfiler.collectGarbage'), everyMs).unref();
