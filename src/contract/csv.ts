// Tables as CSV, for spreadsheets.

export type CsvCell = string | number | null | undefined;

export function csvOf(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, CsvCell>>[],
): string {
  const lines = rows.map((row) => columns.map((name) => cell(row[name])).join(','));
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`;
}

/**
 * Quotes a cell if needed. Text that a spreadsheet would run as a formula gets a leading
 * apostrophe; negative amounts do not.
 */
function cell(value: CsvCell): string {
  let text = String(value ?? '');
  if (/^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
