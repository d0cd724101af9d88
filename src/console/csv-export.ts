// Answers a list of the admin API as CSV: all its pages, as one file. Only two files are sent at once,
// so that exports leave connections of the database for the pages of operators.

import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Answer, CsvOf, Input } from '../commands/admin/command-line';
import { type CsvCell, csvOf, csvRows } from '../contract/csv';
import type { ConsoleDeps } from './deps';
import { ConsoleRefusal } from './refusal';

const pageRows = 1_000;
const rowsMax = 100_000;
// A page may find no row: a list by key or error examines a thousand tasks for each.
const pagesMax = 200;
const longestMs = 60_000;
const atOnceMax = 2;

export interface Exported {
  readonly csv: CsvOf;
  readonly route: string;
  readonly operator: string;
  /** Reads the page that begins after this. */
  readonly read: (after: string | undefined, limit: number) => Promise<Answer>;
}

export function createExports({ log, elapsed }: Pick<ConsoleDeps, 'log' | 'elapsed'>) {
  let running = 0;
  return async (ctx: Context, { csv, route, operator, read }: Exported): Promise<void> => {
    if (running >= atOnceMax) throw new ConsoleRefusal('too_many_exports', tooMany);
    running += 1;
    const began = elapsed();
    let rows = 0;
    let complete = false;
    const leave = (err: Error | null) => {
      running -= 1;
      const fields = { event: 'exported', operator, route, rows, complete };
      if (err) log.error({ ...fields, err }, 'a list was cut off by an error');
      else log.info(fields, 'a list was sent as CSV');
    };
    async function* lines(first: Answer): AsyncGenerator<string, void> {
      if (csv.whole) {
        yield csv.whole(first.data);
        complete = true;
        return;
      }
      const columns = columnsOf(csv, first.data);
      yield csvOf(columns, []);
      for (let page = first, pages = 1; ; page = await read(page.next, pageRows), pages += 1) {
        const found = rowsIn(csv, page.data);
        rows += found.length;
        const cells = found.map((row) => cellsOf(row, columns));
        yield csvRows(columns, cells);
        complete = page.next === undefined;
        if (complete) return;
        if (rows >= rowsMax || pages >= pagesMax || elapsed() - began >= longestMs) {
          return void (yield `${JSON.stringify(cutOff)}\r\n`);
        }
      }
    }
    try {
      // Refusals of the first page are answered as usual.
      const body = Readable.from(lines(await read(undefined, pageRows)), { objectMode: false });
      body.once('close', () => leave(body.errored));
      ctx.attachment(`${route.split('/').at(-1)}.csv`);
      ctx.type = 'text/csv';
      ctx.body = body;
    } catch (error) {
      running -= 1;
      throw error;
    }
  };
}

const tooMany = `${atOnceMax} lists are being sent as CSV already. Try again in a minute.`;
const cutOff = 'The list has more rows than one file may have. Choose fewer with its filters.';

/** The input of a page of the export. */
export function pageInput(input: Input, after: string | undefined, limit: number): Input {
  const set: Readonly<Record<string, string | undefined>> = { after, limit: String(limit) };
  return {
    ...input,
    option: (name) => (Object.hasOwn(set, name) ? set[name] : input.option(name)),
  };
}

type Row = Readonly<Record<string, unknown>>;

function rowsIn({ rows }: CsvOf, data: unknown): readonly Row[] {
  return (rows === undefined ? data : (data as Row)[rows]) as readonly Row[];
}

function columnsOf(csv: CsvOf, data: unknown): readonly string[] {
  return csv.columns ?? Object.keys(rowsIn(csv, data)[0] ?? {});
}

const cellsOf = (row: Row, columns: readonly string[]): Record<string, CsvCell> =>
  Object.fromEntries(columns.map((path) => [path, textOf(valueAt(row, path))]));

const valueAt = (row: Row, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (at as Row | undefined)?.[name], row);

function textOf(value: unknown): CsvCell {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'number' ? value : value === null ? null : String(value ?? '');
}
