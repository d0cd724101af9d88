// Shows the progress of a task on standard error: a bar in a terminal, otherwise one line for each
// change.

import type { Task } from '../api-types.ts';

export interface Progress {
  show(task: Task): void;
  end(): void;
}

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

// The part of the bar that each step ends at. Nobody knows how long a generator takes, so the bar
// moves within a step by time, ever slower.
const steps: Readonly<Record<string, readonly [from: number, to: number]>> = {
  pending: [0, 0.05],
  submitted: [0.05, 0.15],
  generation: [0.15, 0.75],
  super_resolution: [0.75, 0.92],
  storing: [0.92, 0.99],
  succeeded: [1, 1],
};

const stepOf = ({ status, stage }: Task) =>
  status === 'running' ? (stage ?? 'generation') : status;

export function createProgress(screen: Screen, now: () => number = Date.now): Progress {
  return screen.isTTY ? createBar(screen, now) : createLines(screen);
}

function createLines(screen: Screen): Progress {
  let last = '';
  return {
    show(task) {
      const step = stepOf(task);
      if (step !== last) screen.write(`${task.id}: ${step}\n`);
      last = step;
    },
    end: () => undefined,
  };
}

function createBar(screen: Screen, now: () => number): Progress {
  const began = now();
  let task: Task | null = null;
  let step = { name: '', since: began };
  const draw = () => {
    if (!task) return;
    const name = stepOf(task);
    if (name !== step.name) step = { name, since: now() };
    const part = partOf(name, (now() - step.since) / 1_000);
    const seconds = Math.round((now() - began) / 1_000);
    const width = Math.max(10, Math.min(40, (screen.columns ?? 80) - 40));
    const full = Math.round(part * width);
    const bar = `${'█'.repeat(full)}${'░'.repeat(width - full)}`;
    screen.write(
      `\r\x1b[K${bar} ${String(Math.round(part * 100)).padStart(3)} % ${name} ${seconds} s`,
    );
  };
  const timer = setInterval(draw, 500);
  return {
    show(next) {
      task = next;
      draw();
    },
    end() {
      clearInterval(timer);
      if (task) screen.write('\n');
    },
  };
}

export function partOf(step: string, seconds: number): number {
  const [from, to] = steps[step] ?? [0, 0];
  return from + (to - from) * (1 - Math.exp(-seconds / 30));
}
