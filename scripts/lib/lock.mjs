// One at a time: a folder that only one process can make says who is at work. One that is older
// than its work could take has lost its owner.

import { rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';

export async function withLock(folder, staleMs, work) {
  for (;;) {
    try {
      await mkdir(folder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (ageOf(folder) > staleMs) rmSync(folder, { recursive: true, force: true });
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

function ageOf(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
