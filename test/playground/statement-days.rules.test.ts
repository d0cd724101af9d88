// The lines of the statement by task and day.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface Day {
  readonly title: string;
  readonly month?: { readonly title: string; readonly charged: number | null };
  readonly charged: number;
  readonly isWhole: boolean;
  readonly lines: readonly { taskId: string | null; what: string; amount: number }[];
}

const source = readFileSync(resolve(__dirname, '../../public/statement-days.js'), 'utf8');

/** Runs the module of the page in a process, because Jest loads no such modules. */
function daysOf(rows: readonly object[], hasMore: boolean, zone = 'UTC'): readonly Day[] {
  const program = `
    import('data:text/javascript,' + encodeURIComponent(${JSON.stringify(source)})).then(({ daysOf }) =>
      console.log(JSON.stringify(daysOf(...${JSON.stringify([rows, hasMore, zone])}))));`;
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })) as Day[];
}

type Row = readonly [at: string, kind: string, amount: number, change: number, task?: string];
/** Rows, newest first, as the statement of the API has them. */
const movements = (rows: readonly Row[]) =>
  rows.map(([at, kind, amount, change, task = null], index) => ({
    number: rows.length - index,
    at: new Date(`${at}Z`).getTime() / 1000,
    ...{ kind, amount: String(amount), change: String(change), task_id: task, reason: kind },
  }));
const shown = (rows: readonly Row[], hasMore = false) =>
  daysOf(movements(rows), hasMore).map(({ lines, charged, isWhole }) => ({
    ...{ charged, isWhole },
    lines: lines.map(({ taskId, what, amount }) => [taskId, what, amount]),
  }));
const ended = (day: string, task: string): Row[] => [
  [`${day}T10:00:02`, 'refund', 2, 2, task],
  [`${day}T10:00:02`, 'settle', 3, 0, task],
  [`${day}T10:00:00`, 'hold', 5, -5, task],
];

test('a task has one line with what it was charged, and the day its sum', () => {
  expect(shown([...ended('2027-01-02', 'b'), ...ended('2027-01-02', 'a')])).toEqual([
    {
      ...{ charged: 6_000_000, isWhole: true },
      lines: [
        ['b', 'charged', -3_000_000],
        ['a', 'charged', -3_000_000],
      ],
    },
  ]);
});

test('a running task is held, a failed one returned, and a credit has a line of its own', () => {
  const rows: Row[] = [
    ['2027-01-02T12:00:00', 'hold', 5, -5, 'c'],
    ['2027-01-02T11:00:01', 'refund', 5, 5, 'b'],
    ['2027-01-02T11:00:00', 'hold', 5, -5, 'b'],
    ['2027-01-02T10:00:00', 'credit', 9, 9],
  ];
  expect(shown(rows)[0]).toEqual({
    ...{ charged: 0, isWhole: true },
    lines: [
      ['c', 'held', -5_000_000],
      ['b', 'failed, returned', 0],
      [null, 'credit', 9_000_000],
    ],
  });
});

test('a task that ends on the day after has its line there, and a later correction one of its own', () => {
  const rows: Row[] = [
    ['2027-01-04T09:00:00', 'correction', 1, 1, 'a'],
    ['2027-01-03T00:00:01', 'refund', 2, 2, 'a'],
    ['2027-01-03T00:00:01', 'settle', 3, 0, 'a'],
    ['2027-01-02T23:59:00', 'hold', 5, -5, 'a'],
  ];
  expect(shown(rows).map(({ lines }) => lines)).toEqual([
    [['a', 'correction', 1_000_000]],
    [['a', 'charged', -3_000_000]],
  ]);
});

test('while rows are missing, the last day has no sum, and its last task no line', () => {
  const rows = [...ended('2027-01-03', 'b'), ...ended('2027-01-02', 'a').slice(0, 1)];
  expect(shown(rows, true)).toMatchObject([
    { isWhole: true, lines: [['b', 'charged', -3_000_000]] },
    { isWhole: false, lines: [] },
  ]);
});

test.each([
  ['America/New_York', ['Sunday, 31 January'], ['January 2027']],
  ['UTC', ['Monday, 1 February', 'Sunday, 31 January'], ['February 2027', 'January 2027']],
  ['Asia/Shanghai', ['Monday, 1 February'], ['February 2027']],
])('days and months begin in the time zone of the reports, %s', (zone, titles, months) => {
  const rows: Row[] = [
    ['2027-02-01T02:00:00', 'settle', 3, 0, 'b'],
    ['2027-01-31T20:00:00', 'settle', 2, 0, 'a'],
  ];
  const days = daysOf(movements(rows), false, zone);
  expect(days.map(({ title }) => title)).toEqual(titles.map((title) => title.replace(', ', ' ')));
  expect(days.flatMap(({ month }) => month?.title ?? [])).toEqual(months);
});
