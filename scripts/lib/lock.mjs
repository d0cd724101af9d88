// One at a time: a folder that only one process can make says who is at work. One whose process is
// gone, or that is older than its work could take, has lost its owner.

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

export async function withLock(folder, staleMs, work) {
  for (;;) {
    try {
      await mkdir(folder);
      writeFileSync(join(folder, 'owner'), `${process.pid} ${hostname()}`);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isOwnerGone(folder) || ageOf(folder) > staleMs)
      rmSync(folder, { recursive: true, force: true });
    else await new Promise((done) => setTimeout(done, 200));
  }
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** An interrupted one leaves its folder. Of a process on another host nothing can be said. */
function isOwnerGone(folder) {
  try {
    const [pid, host] = readFileSync(join(folder, 'owner'), 'utf8').split(' ');
    if (host !== hostname()) return false;
    process.kill(Number(pid), 0);
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
