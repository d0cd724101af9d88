// Dashboard, alerts and the operators' page against the list of metrics: nothing is named that is
// not there, nothing is there that nobody looks at, and each panel and alert is explained.

import { type MetricDefinition, metrics } from '../../src/metrics';
import { filesIn, read } from '../house/sources';
import { alerts, groupedBy, operationsPage, panels, usesOf } from './ops';

const expressions = [...panels(), ...alerts()];
const definitions: Readonly<Record<string, MetricDefinition>> = metrics;

function definitionOf(series: string): MetricDefinition | undefined {
  const whole = definitions[series];
  if (whole) return whole.kind === 'histogram' ? undefined : whole;
  const histogram = definitions[series.replace(/_(bucket|sum|count)$/, '')];
  return histogram?.kind === 'histogram' ? histogram : undefined;
}

// What a scrape adds to every series.
const labelsOfAScrape = ['job', 'instance', 'process', 'le'];

test('there is something to compare', () => {
  expect(panels().length).toBeGreaterThan(30);
  expect(alerts().length).toBeGreaterThan(20);
  expect(usesOf({ title: '', expression: 'sum(video_x_total{a="b", c=~"d"})' })).toEqual([
    { series: 'video_x_total', labels: ['a', 'c'] },
  ]);
});

test('every metric of ours that a panel or an alert names exists', () => {
  const named = expressions.flatMap((expression) =>
    usesOf(expression).map(({ series }) => ({ title: expression.title, series })),
  );
  const missing = named.filter(
    ({ series }) => series.startsWith('video_') && !definitionOf(series),
  );
  expect(missing).toEqual([]);
});

test('every label a metric is selected by is one of its own', () => {
  const wrong = expressions.flatMap((expression) =>
    usesOf(expression).flatMap(({ series, labels }) => {
      const own = definitionOf(series)?.labels;
      if (!series.startsWith('video_')) return [];
      const known = [...(own ?? []), ...labelsOfAScrape];
      return labels
        .filter((label) => !known.includes(label))
        .map((label) => `${expression.title}: ${series}{${label}}`);
    }),
  );
  expect(wrong).toEqual([]);
});

test('every label a sum is grouped by belongs to a metric in it', () => {
  const ofOthers = ['task_queue', 'worker_type'];
  const wrong = expressions.flatMap((expression) => {
    const known = usesOf(expression).flatMap(({ series }) => definitionOf(series)?.labels ?? []);
    return groupedBy(expression)
      .filter((label) => ![...known, ...labelsOfAScrape, ...ofOthers].includes(label))
      .map((label) => `${expression.title}: by ${label}`);
  });
  expect(wrong).toEqual([]);
});

test('every metric is looked at by a panel or an alert', () => {
  const used = new Set(
    expressions.flatMap((expression) =>
      usesOf(expression).flatMap(({ series }) => [
        series,
        series.replace(/_(bucket|sum|count)$/, ''),
      ]),
    ),
  );
  expect(Object.keys(metrics).filter((name) => !used.has(name))).toEqual([]);
});

test('every panel is a row of the operators’ page, and every row is a panel', () => {
  const section = operationsPage().split('## Every panel')[1]?.split('## Every alert')[0] ?? '';
  const rows = [...section.matchAll(/^\| ([^|]+?) +\|/gm)].map(([, title]) => title);
  const explained = rows.filter((title) => title !== 'panel' && !/^-+$/.test(title ?? ''));
  expect(explained.length).toBe(new Set(explained).size);
  expect(new Set(explained)).toEqual(new Set(panels().map(({ title }) => title)));
});

test('every alert is a row of the operators’ page, and every row is an alert', () => {
  const section = operationsPage().split('## Every alert')[1] ?? '';
  const explained = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, title]) => title);
  expect(explained.length).toBe(new Set(explained).size);
  expect(new Set(explained)).toEqual(new Set(alerts().map(({ title }) => title)));
});

test('every event of a log line is in the operators’ table', () => {
  const told = ['src', 'activities'].flatMap((folder) =>
    filesIn(folder, '.ts').flatMap((path) =>
      [...read(path).matchAll(/\bevent: '(\w+)'/g)].map(([, event = '']) => event),
    ),
  );
  expect(new Set(told).size).toBeGreaterThan(20);
  const table = operationsPage().split('### Logs')[1]?.split('### Metrics')[0] ?? '';
  expect([...new Set(told)].filter((event) => !table.includes(`\`${event}\``))).toEqual([]);
});

test('every alert says how urgent it is and leads to a heading that is there', () => {
  const headings = [...operationsPage().matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  const anchors = headings.map((heading) => `docs/operations.md#${heading}`);
  const lost = alerts().filter(
    ({ severity, runbook }) => !['page', 'ticket'].includes(severity) || !anchors.includes(runbook),
  );
  expect(lost).toEqual([]);
});
