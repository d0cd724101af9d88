// Parses the files in ops/. Returns the expressions of all panels and alerts, and the metrics that
// an expression names.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

const file = (path: string) => readFileSync(resolve(__dirname, '../..', path), 'utf8');

interface Expression {
  readonly title: string;
  readonly expression: string;
}

export interface Alert extends Expression {
  readonly severity: string;
  readonly summary: string;
  readonly runbook: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly type: string;
    readonly description?: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly for?: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly runbook: string };
    }[];
  }[];
}

export function panels(): Expression[] {
  return panelsOfDashboard().flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, expression: expr })),
  );
}

export function alerts(): Alert[] {
  return alertRules().map(({ alert, expr, labels, annotations }) => ({
    title: alert,
    expression: expr,
    severity: labels.severity,
    summary: annotations.summary,
    runbook: annotations.runbook,
  }));
}

export const panelsOfDashboard = () =>
  (JSON.parse(file('ops/grafana-dashboard.json')) as Dashboard).panels;

export const alertRules = () =>
  (parse(file('ops/alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);

export const symptomsPage = () => file('docs/symptoms.md');

interface Use {
  /** The name as it is written, including a suffix such as _bucket. */
  readonly series: string;
  readonly labels: readonly string[];
}

/** Returns the series that an expression reads, with the labels of their selectors. */
export function usesOf({ expression }: Expression): Use[] {
  const series = /\b((?:video|temporal|nodejs|process)_[a-z0-9_]+)\b\s*(?:\{([^}]*)\})?/g;
  return [...expression.matchAll(series)].map(([, name = '', selector = '']) => ({
    series: name,
    labels: [...selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

/** Returns the labels by which an expression groups. */
export function groupedBy({ expression }: Expression): string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
}
