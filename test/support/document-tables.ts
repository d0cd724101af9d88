// The tables of documents that tests write. A table stands between two comments with its name. After
// a change of what it shows, UPDATE_DOCUMENTS=1 and the test write it again.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Expects the table between the two marks with this name in a page. */
export function expectTable(page: string, name: string, rows: readonly (readonly string[])[]) {
  const path = join(__dirname, '../..', page);
  const table = alignedTable(rows);
  const marked = new RegExp(`(<!-- ${name}: begin -->\\n)([\\s\\S]*?)(<!-- ${name}: end -->)`);
  if (process.env.UPDATE_DOCUMENTS) {
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replace(marked, (_, begin, __, end) => `${begin}\n${table}\n\n${end}`),
    );
  }
  expect(marked.exec(readFileSync(path, 'utf8'))?.[2]?.trim()).toBe(table);
}

/** The formatter pads the cells of a table to columns, so these tables have the same padding. */
function alignedTable([head = [], ...body]: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) =>
    Math.max(...[head, ...body].map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...body.map(line)].join('\n');
}
