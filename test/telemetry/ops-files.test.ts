// Compares the dashboard, the alerts and docs/symptoms.md with the list of metrics. Every named
// metric must exist, and every metric must be used. Every panel and alert must be explained.

import { type MetricDefinition, metrics } from '../../src/telemetry/metrics';
import { anchorOf, filesIn, headingsOf, read } from '../house/sources';
import { alerts, groupedBy, panels, panelsOfDashboard, symptomsPage, usesOf } from './ops';

const expressions = [...panels(), ...alerts()];
const definitions: Readonly<Record<string, MetricDefinition>> = metrics;

function definitionOf(series: string): MetricDefinition | undefined {
  const whole = definitions[series];
  if (whole) return whole.kind === 'histogram' ? undefined : whole;
  const histogram = definitions[series.replace(/_(bucket|sum|count)$/, '')];
  return histogram?.kind === 'histogram' ? histogram : undefined;
}

// These labels are not in the list of metrics, because a scrape or the metrics library adds them.
const labelsOfAScrape = ['job', 'instance', 'process', 'le'];

test('the parser of the files in ops/ finds panels, alerts and metrics', () => {
  expect(panels().length).toBeGreaterThan(30);
  expect(alerts().length).toBeGreaterThan(20);
  expect(usesOf({ title: '', expression: 'sum(video_x_total{a="b", c=~"d"})' })).toEqual([
    { series: 'video_x_total', labels: ['a', 'c'] },
  ]);
});

test('every metric in a panel or an alert exists', () => {
  const named = expressions.flatMap((expression) =>
    usesOf(expression).map(({ series }) => ({ title: expression.title, series })),
  );
  const missing = named.filter(
    ({ series }) => series.startsWith('video_') && !definitionOf(series),
  );
  expect(missing).toEqual([]);
});

test('every label in a selector belongs to its metric', () => {
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

test('every label in a grouping belongs to a metric of the same expression', () => {
  const ofOthers = ['task_queue', 'worker_type', 'mountpoint'];
  const wrong = expressions.flatMap((expression) => {
    const known = usesOf(expression).flatMap(({ series }) => definitionOf(series)?.labels ?? []);
    return groupedBy(expression)
      .filter((label) => ![...known, ...labelsOfAScrape, ...ofOthers].includes(label))
      .map((label) => `${expression.title}: by ${label}`);
  });
  expect(wrong).toEqual([]);
});

test('every metric is used by a panel or an alert', () => {
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

test('every panel says what it shows', () => {
  const silent = panelsOfDashboard().filter(
    ({ type, description }) => type !== 'row' && !description,
  );
  expect(silent).toEqual([]);
});

test('docs/symptoms.md lists every log event, and no event that no code writes', () => {
  const events = ['src', 'activities'].flatMap((folder) =>
    filesIn(folder, '.ts').flatMap((path) =>
      [...read(path).matchAll(/\bevent: '(\w+)'/g)].map(([, event = '']) => event),
    ),
  );
  expect(new Set(events).size).toBeGreaterThan(20);
  const table = symptomsPage().split('### Logs')[1]?.split('### Metrics')[0] ?? '';
  const rows = [...table.matchAll(/^\| (`[^|]+?) +\|/gm)].map(([, names = '']) => names);
  const listed = rows.flatMap((names) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(new Set(listed)).toEqual(new Set(events));
});

test('an alert about the first fault of a class also finds a class that had no fault before', () => {
  const isFirst = /\bincrease\([^)]*\[\w+\]\)\)\s*> 0(?![.\d])/;
  const blind = alerts().flatMap((alert) => {
    if (!isFirst.test(alert.expression) || /\bunless\b/.test(alert.expression)) return [];
    return usesOf(alert)
      .filter(({ series }) => {
        const { labels = [], known } = definitionOf(series) ?? {};
        return labels.length > 0 && !known;
      })
      .map(({ series }) => `${alert.title}: ${series}`);
  });
  expect(blind).toEqual([]);
});

const anchors = ['docs/symptoms.md', 'docs/sizing.md'].flatMap((page) =>
  [...headingsOf(page)].map((heading) => `${page}#${heading}`),
);

test('every heading that a panel quotes stands in docs/symptoms.md or docs/sizing.md', () => {
  const quoted = panelsOfDashboard().flatMap(({ description = '' }) =>
    [...description.matchAll(/"([^"]+)"/g)].map(([, heading = '']) => heading),
  );
  expect(quoted.length).toBeGreaterThan(5);
  const isLost = (heading: string) =>
    !anchors.some((anchor) => anchor.endsWith(`#${anchorOf(heading)}`));
  expect(quoted.filter(isLost)).toEqual([]);
});

test('every alert has a severity and links to an existing heading', () => {
  const lost = alerts().filter(
    ({ severity, runbook }) =>
      !['page', 'ticket', 'watchdog'].includes(severity) || !anchors.includes(runbook),
  );
  expect(lost).toEqual([]);
});
