// Preloaded into a process with `--require`. It collects the garbage of each thread every few
// seconds, so that the measured memory contains little garbage.

import { Session } from 'node:inspector';

const everyMs = 3_000;

const session = new Session();
session.connect();
setInterval(() => session.post('HeapProfiler.collectGarbage'), everyMs).unref();
