// The times of the steps on the page of a task: the clock of the browser beside that of the server.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';

type Given = readonly [seen: readonly (number | null)[], acceptedAt: number];

const source = readFileSync(resolve(__dirname, '../../public/steps.js'), 'utf8');

/** Runs the module of the page in a process, because Jest loads no such modules. */
async function orderedTimes(cases: readonly Given[]): Promise<readonly (number | null)[][]> {
  const program = `
    const { orderedTimes } = await import('data:text/javascript,' + encodeURIComponent(${JSON.stringify(source)}));
    const given = JSON.parse(process.argv[1]);
    const plain = (time) => time ?? undefined;
    const run = ([seen, acceptedAt]) => orderedTimes(seen.map(plain), acceptedAt);
    process.stdout.write(JSON.stringify(given.map(run)));`;
  const words = ['--input-type=module', '--eval', program, JSON.stringify(cases)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return JSON.parse(stdout);
}

test('a time that a slow clock of the browser gave is moved between its neighbours', async () => {
  const [slow, turned] = await orderedTimes([
    [[null, 20, 30, null], 100],
    [[null, 150, 120, 140], 100],
  ]);
  expect(slow).toEqual([100, 100, 100, null]);
  expect(turned).toEqual([100, 120, 120, 140]);
});

test('the shown times of a task never run backwards, and every seen step keeps a time', async () => {
  const time = fc.integer({ min: 0, max: 1_000 });
  const seen = fc.array(fc.option(time), { minLength: 1, maxLength: 5 });
  const cases: readonly Given[] = fc.sample(fc.tuple(seen, time), 1_000);
  const shown = await orderedTimes(cases);
  for (const [index, [times, acceptedAt]] of cases.entries()) {
    const ordered = shown[index] ?? [];
    expect(ordered.slice(1).map((at) => at === null)).toEqual(
      times.slice(1).map((at) => at === null),
    );
    const known = ordered.filter((at) => at !== null);
    expect(known).toEqual([...known].sort((one, other) => one - other));
    expect(known[0]).toBe(acceptedAt);
  }
});
