// The tables of docs/generators.md that tests write. After a change, UPDATE_DOCUMENTS=1 writes them
// again.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(__dirname, '../../docs/generators.md');

/** Prints the table and expects it between the two marks with this name. */
export function expectTable(name: string, rows: readonly (readonly string[])[]): void {
  const table = alignedTable(rows);
  process.stdout.write(`${table}\n`);
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

function alignedTable([head = [], ...body]: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) =>
    Math.max(...[head, ...body].map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...body.map(line)].join('\n');
}
