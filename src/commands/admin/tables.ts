// Formats text output: tables, and the fields of one thing below each other. Numbers are
// right-aligned, and times are UTC to the second. Some texts come from callers and providers. So
// characters that change what a terminal shows are replaced in cells, and escaped in other texts.

import { formatMicros } from '../../accounts/amount.rules';

type Cell = string | number | boolean | Date | null | undefined;

interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
}

export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  if (rows.length === 0) return 'None.';
  const cells = rows.map((row) => columns.map((column) => column.of(row)));
  const shown = cells.map((row) => row.map(textOf));
  const isRight = columns.map(
    (_, at) =>
      cells.every((row) => isNumber(row[at]) || row[at] === null) && cells.some((row) => row[at]),
  );
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...shown.map((row) => [...(row[at] ?? '')].length)),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => pad(text, widths[at] ?? 0, isRight[at] === true))
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...shown.map(line)].join('\n');
}

export function fields(named: Readonly<Record<string, Cell>>): string {
  const width = Math.max(...Object.keys(named).map((name) => name.length));
  return Object.entries(named)
    .map(([name, value]) => `${name.padEnd(width)}  ${textOf(value)}`.trimEnd())
    .join('\n');
}

/** Formats a time as `2027-01-31 00:00:00Z`. */
export const moment = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;

export const amount = (micros: number): string => formatMicros(micros);

export const amountOrNull = (micros: number | null) => (micros === null ? null : amount(micros));

/** The margin as a share of the charge, in whole per cents; null if nothing was charged. */
export function percentOf(charged: number, cost: number): number | null {
  return charged === 0 ? null : Math.round(((charged - cost) / charged) * 100);
}

function isNumber(cell: Cell): boolean {
  return typeof cell === 'number' || (typeof cell === 'string' && /^-?\d+\.\d{6}$/.test(cell));
}

function pad(text: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - [...text].length));
  return right ? `${blanks}${text}` : `${text}${blanks}`;
}

function textOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '-';
  if (cell instanceof Date) return moment(cell);
  return String(cell).replace(unprintable, ' ') || '-';
}

/** Control characters, U+2028, U+2029, and the characters that change the direction of a text. */
export const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/**
 * Escapes unprintable characters, except line feeds, as JSON does. So the values of a JSON document
 * do not change.
 */
export function escaped(text: string): string {
  return text.replace(unprintable, (found) =>
    Array.from(found, (char) => (char === '\n' ? char : codeOf(char))).join(''),
  );
}

function codeOf(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
