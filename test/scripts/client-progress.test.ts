// The bar and the lines that the command line of the client shows.

import type { Task } from '../../clients/typescript/src/api-types';
import { createProgress, partOf } from '../../clients/typescript/src/cli/progress';

const task = (over: object) => ({ id: 'task_1', status: 'submitted', ...over }) as Task;
const steps = [
  task({ status: 'pending' }),
  task({}),
  task({ status: 'running', stage: 'generation' }),
  task({ status: 'running', stage: 'storing' }),
  task({ status: 'succeeded' }),
];

function shown(isTTY: boolean): string {
  let text = '';
  const progress = createProgress({ isTTY, columns: 80, write: (more) => (text += more) }, () => 0);
  for (const step of steps) progress.show(step);
  progress.end();
  return text;
}

test('a terminal shows a bar on one line, which only grows and ends full', () => {
  const text = shown(true);
  expect(text.split('\n')).toHaveLength(2);
  const parts = [...text.matchAll(/(\d+) %/g)].map(([, part]) => Number(part));
  expect(parts).toEqual([...parts].sort((a, b) => a - b));
  expect(parts.at(-1)).toBe(100);
});

test('without a terminal each change is a line', () => {
  const lines = shown(false).trim().split('\n');
  expect(lines).toHaveLength(steps.length);
  expect(lines.at(-1)).toBe('task_1: succeeded');
});

test('the bar moves within a step, and never into the next one', () => {
  expect(partOf('generation', 10)).toBeGreaterThan(partOf('generation', 0));
  expect(partOf('generation', 10_000)).toBeLessThanOrEqual(partOf('super_resolution', 0));
});
