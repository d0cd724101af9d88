// The rows of the tables that documents take from the code: settings, fields, errors, limits and
// alerts. The first row of each table is its head.

import { readConfig, type SettingRow, settingRows } from '../../src/config/config';
import { refusals } from '../../src/contract/error';
import { meaningOf } from '../../src/contract/error-sentences';
import { createOpenApiDocument } from '../../src/contract/openapi';
import { atOnceTable, limitsOf, rateTable } from '../../src/gateway/limit-table';
import { alertRules } from '../telemetry/ops';

type Rows = readonly (readonly string[])[];

export function settingTable(settings: readonly SettingRow[] = settingRows()): Rows {
  return [
    ['setting', 'otherwise', 'what it is'],
    ...settings.map(({ name, otherwise, sentence, secret }) => [
      `\`${name}\``,
      otherwise === '' ? '' : `\`${otherwise}\``,
      `${sentence.replaceAll('|', '\\|')}${secret ? ' **Secret.**' : ''}`,
    ]),
  ];
}

export function errorTable(): Rows {
  return [
    ['HTTP', '`type`', '`code`', 'meaning'],
    ...Object.entries(refusals).map(([code, { status, type }]) => {
      const meaning = meaningOf(code as keyof typeof refusals);
      return [String(status), `\`${type}\``, `\`${code}\``, sentence(meaning)];
    }),
  ];
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The fields of a schema of the OpenAPI document. */
export function fieldTable(name: string): Rows {
  const { components } = createOpenApiDocument({ version: '0', publicUrl: 'http://x' }) as {
    components: { schemas: Record<string, Schema> };
  };
  const { properties = {}, required = [] } = components.schemas[name] ?? {};
  return [
    ['field', 'type', 'meaning'],
    ...Object.entries(properties).map(([field, schema]) => [
      `\`${field}\``,
      `${typeOf(schema)}${required.includes(field) ? ', required' : ''}`,
      (schema.description ?? '').replaceAll('|', '\\|'),
    ]),
  ];
}

/** A type in words. Absence and null are the same for a field, so null is not named. */
function typeOf(schema: Schema): string {
  if (schema.anyOf) {
    const types = schema.anyOf.filter(({ type }) => type !== 'null').map(typeOf);
    return [...new Set(types)].join(' or ');
  }
  const words = schema.enum ?? (schema.const === undefined ? [] : [String(schema.const)]);
  if (words.length > 0) {
    return words
      .filter(Boolean)
      .map((word) => `\`${word}\``)
      .join(' ');
  }
  if (schema.$ref || schema.type === 'object') return 'object';
  if (schema.type === 'array') return `${typeOf(schema.items ?? {}).split(',')[0]}[]`;
  const names = [schema.type ?? []].flat().filter((name) => name !== 'null');
  return `${names.join(' or ')}${rangeOf(schema)}`;
}

function rangeOf({ minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  // The largest exact number is no limit of ours.
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return '';
  return minimum === undefined ? ` up to ${maximum}` : `, ${minimum} to ${maximum}`;
}

/** The limits of calls with the default settings. */
export function limitTable(): Rows {
  const config = readConfig('admin', {});
  const limits = limitsOf(config);
  const shown = (count: number) => count.toLocaleString('en');
  const rates = Object.entries(rateTable).map(([name, row]) => {
    const { perSecond, burst } = limits[name as keyof typeof rateTable];
    const most = `${shown(perSecond)} a second, ${shown(burst)} at once`;
    return [row.of, row.may, most, 'note' in row ? row.note : ''];
  });
  const atOnce = Object.entries(atOnceTable).map(([name, row]) => {
    const { own, all } = limits[name as keyof typeof atOnceTable];
    const most = Number.isFinite(all) ? `${shown(own)}; ${shown(all)} of all` : shown(own);
    return [row.of, `${row.what} in progress`, most, 'note' in row ? row.note : ''];
  });
  const unfinished = [
    'account',
    'unfinished tasks',
    shown(config.queuedTasksMax),
    'in all processes together',
  ];
  return [['of', 'what', 'most', 'note'], ...rates, ...atOnce, unfinished];
}

/** The name of an alert leads to what to do about it. */
export function alertTable(): Rows {
  const rows = alertRules().map(({ alert, for: after, labels, annotations }) => [
    `[\`${alert}\`](${addressOf(annotations.runbook)})`,
    labels.severity,
    after ?? 'at once',
    annotations.summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '`<$1>`'),
  ]);
  return [['alert', 'severity', 'after', 'meaning'], ...rows];
}

/** The address of a runbook, for a link in docs/symptoms.md. */
const addressOf = (runbook: string) => runbook.replace('docs/', '').replace('symptoms.md#', '#');

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
