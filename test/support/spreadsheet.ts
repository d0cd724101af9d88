// Reads CSV as spreadsheets do, with each separator that one of them takes.

/**
 * The cells between any of these separators. A quote that begins a cell encloses it. Anywhere else it is a
 * character, also after such a cell.
 */
export function cellsIn(csv: string, separators = ','): readonly string[] {
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)(?:"|$))?([^\\r\\n${separators}]*)([${separators}]|\\r\\n|\\r|\\n|$)`,
    'gy',
  );
  return [...csv.matchAll(cell)].map(
    ([, quoted = '', rest = '']) => quoted.replaceAll('""', '"') + rest,
  );
}

/** The cells that a spreadsheet would run. */
export function formulasIn(csv: string): readonly string[] {
  return [',', ';', '\t', ',;\t']
    .flatMap((separators) => cellsIn(csv, separators))
    .filter((cell) => /^[\t\r\n]*[=+\-@＝＋－＠]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell));
}
