// One at a time: a file that only one process can make says who is at work. One whose process is
// gone, or that is older than its work could take, has lost its owner.

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

export async function withLock(file, staleMs, work) {
  // It may be a folder: that is what an earlier version made.
  const remove = () => rmSync(file, { recursive: true, force: true });
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

/** An interrupted one leaves its file. Of a process on another host nothing can be said. */
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
