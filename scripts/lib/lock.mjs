// A lock between processes. Only one process can create the lock file, which contains the process
// id of its owner. If the owner has ended, or the file is too old, another process takes the lock.

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

export async function withLock(file, staleMs, work) {
  const remove = () => rmSync(file, { force: true });
  for (;;) {
    try {
      writeFileSync(file, `${process.pid} ${hostname()}`, { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isOwnerGone(file) || ageOf(file) > staleMs) remove();
    else await new Promise((done) => setTimeout(done, 200));
  }
  process.once('exit', remove);
  try {
    return await work();
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/**
 * True if the owner ran on this host and has ended. The result is false for an owner on another
 * host, because the state of a process on another host is unknown.
 */
function isOwnerGone(file) {
  try {
    const [pid, host] = readFileSync(file, 'utf8').split(' ');
    if (host === hostname()) process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function ageOf(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
