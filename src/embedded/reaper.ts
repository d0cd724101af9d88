// A small process, the reaper, that stops the children of this process if this process ends without
// stopping them. The reaper notices the end because its standard input closes. The operating system
// closes that input even if this process is killed.

import { type ChildProcess, spawn } from 'node:child_process';

const program = `
const pids = new Map();
const kill = (force) => {
  for (const [pid, signal] of pids) {
    try { process.kill(pid, force ? 'SIGKILL' : signal); } catch { pids.delete(pid); }
  }
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const [pid, signal] = line.split(' ');
    signal ? pids.set(+pid, signal) : pids.delete(+pid);
  }
});
process.stdin.on('end', () => {
  if (pids.size === 0) process.exit();
  kill(false);
  setInterval(() => { kill(false); if (pids.size === 0) process.exit(); }, 250);
  setTimeout(() => { kill(true); process.exit(); }, 3000);
});`;

let reaper: ChildProcess | undefined;

export function willReap(pid: number, signal: NodeJS.Signals): void {
  reaper ??= start();
  reaper.stdin?.write(`${pid} ${signal}\n`);
}

export function reaped(pid: number): void {
  reaper?.stdin?.write(`${pid}\n`);
}

function start(): ChildProcess {
  const child = spawn(process.execPath, ['-e', program], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.stdin?.on('error', () => undefined); // The reaper may have been killed.
  // The reaper must not keep this process running.
  child.unref();
  (child.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return child;
}
