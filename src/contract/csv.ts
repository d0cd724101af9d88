// Tables as CSV, for spreadsheets.

export type CsvCell = string | number | null | undefined;

type Rows = readonly Readonly<Record<string, CsvCell>>[];

export const csvOf = (columns: readonly string[], rows: Rows): string =>
  `${columns.join(',')}\r\n${csvRows(columns, rows)}`;

/** The rows without the line of the names. */
export const csvRows = (columns: readonly string[], rows: Rows): string =>
  rows.map((row) => `${columns.map((name) => cell(row[name])).join(',')}\r\n`).join('');

/**
 * Quotes a cell if needed. Text that a spreadsheet would run as a formula gets a leading
 * apostrophe; negative amounts do not.
 */
function cell(value: CsvCell): string {
  let text = String(value ?? '');
  if (/^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
