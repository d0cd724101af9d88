// Tests each alert with its cases in ops/alert-cases.yaml. The alert must fire in one case and not
// in the other. promtool runs the cases if it is installed. The list of cases is always checked.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { type Alert, alerts } from './ops';

interface Case {
  readonly at: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Maps a series to its samples. There is one sample per minute. */
  readonly series: Readonly<Record<string, string>>;
}

const opsFolder = resolve(__dirname, '../../ops');
// All values are read as text, because YAML would read 0x20 as a number. For promtool it means
// twenty more samples of 0.
const cases = parse(readFileSync(join(opsFolder, 'alert-cases.yaml'), 'utf8'), {
  schema: 'failsafe',
}) as Readonly<Record<string, { readonly fires: Case; readonly quiet?: Case }>>;
const always = ['VideoWatchdog'];

test('every alert has a case in which it fires, and every alert except VideoWatchdog has a case in which it does not fire', () => {
  expect(Object.keys(cases).sort()).toEqual(
    alerts()
      .map(({ title }) => title)
      .sort(),
  );
  const withoutQuiet = Object.entries(cases).filter(([, { quiet }]) => !quiet);
  expect(withoutQuiet.map(([name]) => name)).toEqual(always);
});

test('every case contains a series that its alert reads', () => {
  const foreign = alerts().flatMap(({ title, expression }) => {
    const { fires, quiet } = cases[title] ?? {};
    const series = [fires, quiet].flatMap((one) => Object.keys(one?.series ?? {}));
    const names = series.map((text) => text.split('{')[0] ?? '');
    return names.filter((name) => !expression.includes(name)).map((name) => `${title}: ${name}`);
  });
  expect(foreign).toEqual([]);
});

const promtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0;
if (!promtool)
  process.stdout.write('Left out, because there is no promtool: the cases of alerts.\n');

(promtool ? test : test.skip)(
  'every alert fires in its first case and does not fire in its second case',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'video-alerts-'));
    try {
      const file = join(folder, 'cases.yaml');
      const tests = alerts().flatMap((alert) => {
        const { fires, quiet } = cases[alert.title] ?? {};
        return [
          ...(fires ? [testOf(alert, fires, [expected(alert, fires)])] : []),
          ...(quiet ? [testOf(alert, quiet, [])] : []),
        ];
      });
      const rule_files = [join(opsFolder, 'alerts.yaml')];
      writeFileSync(file, stringify({ rule_files, evaluation_interval: '1m', tests }));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
        encoding: 'utf8',
      });
      expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({
        status: 0,
        said: '',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

function testOf({ title }: Alert, { at, series }: Case, exp_alerts: readonly object[]) {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname: title, exp_alerts }],
  };
}

function expected({ severity, summary, runbook }: Alert, { labels = {} }: Case) {
  const filled = summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? '');
  return {
    exp_labels: { severity, ...labels },
    exp_annotations: { summary: filled, runbook },
  };
}
