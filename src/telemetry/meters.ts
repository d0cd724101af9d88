// Creates the metrics of one process from the list in metrics.ts, and Node's own metrics (memory,
// event loop, open handles). A call with a wrong name or label does not compile.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type MetricDefinition, type MetricName, metrics } from './metrics';

type Kind<K extends MetricDefinition['kind']> = {
  [N in MetricName]: (typeof metrics)[N]['kind'] extends K ? N : never;
}[MetricName];
type Labels<N extends MetricName> = (typeof metrics)[N] extends { readonly labels: infer L }
  ? L extends readonly (infer Word extends string)[]
    ? Readonly<Record<Word, string>>
    : never
  : Readonly<Record<never, string>>;

export interface Meters {
  readonly registry: Registry;
  add<N extends Kind<'counter'>>(name: N, labels: Labels<N>, by?: number): void;
  observe<N extends Kind<'histogram'>>(name: N, labels: Labels<N>, value: number): void;
  set<N extends Kind<'gauge'>>(name: N, labels: Labels<N>, value: number): void;
  /** Removes all values of a gauge. Call it before you set the current values. */
  clear(name: Kind<'gauge'>): void;
}

// The delay of the event loop is measured so often, and this time is part of the value. The default of
// 10 ms wakes a process a hundred times a second: a third of the processor time of an API without calls.
const delayEveryMs = 50;

type Metric = Counter<string> | Gauge<string> | Histogram<string>;

export function createMeters(process: 'api' | 'worker' | 'console'): Meters {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: delayEveryMs });
  const made = new Map<string, Metric>();
  for (const [name, definition] of Object.entries<MetricDefinition>(metrics)) {
    const isOfBoth = definition.of === 'both' && process !== 'console';
    if (definition.of === process || isOfBoth) made.set(name, make(name, definition, registry));
  }
  // The types allow every metric in every process. So the use of a metric of another process is
  // found only here, at run time.
  const the = <M extends Metric>(name: string): M => {
    const metric = made.get(name);
    if (!metric) throw new Error(`${name} is not a metric of the ${process}.`);
    return metric as M;
  };
  return {
    registry,
    add: (name, labels, by = 1) => the<Counter<string>>(name).inc(labels, by),
    observe: (name, labels, value) => the<Histogram<string>>(name).observe(labels, value),
    set: (name, labels, value) => the<Gauge<string>>(name).set(labels, value),
    clear: (name) => the<Gauge<string>>(name).reset(),
  };
}

function make(name: string, definition: MetricDefinition, registry: Registry): Metric {
  const { kind, help, labels = [], known = [], buckets } = definition;
  const common = { name, help, labelNames: labels, registers: [registry] };
  if (kind === 'histogram') return new Histogram({ ...common, buckets: [...(buckets ?? [])] });
  if (kind === 'gauge') return new Gauge(common);
  const counter = new Counter(common);
  for (const value of known) counter.inc({ [labels[0] ?? '']: value }, 0);
  return counter;
}
