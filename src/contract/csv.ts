// Tables as CSV, for spreadsheets.

export type CsvCell = string | number | null | undefined;

type Rows = readonly Readonly<Record<string, CsvCell>>[];

export const csvOf = (columns: readonly string[], rows: Rows): string =>
  `${columns.join(',')}\r\n${csvRows(columns, rows)}`;

/** The rows without the line of the names. */
export const csvRows = (columns: readonly string[], rows: Rows): string =>
  rows.map((row) => `${columns.map((name) => cell(row[name])).join(',')}\r\n`).join('');

// A spreadsheet whose separator is a semicolon or a tab takes a quote within its cell as a character. It
// begins a cell after each separator in a text, and takes quotes there off.
const formulas = /(^|[;\t\r\n])(?="*[=+\-@＝＋－＠])/g;

/**
 * Quotes a cell if needed. Text that a spreadsheet would run as a formula gets an apostrophe, wherever it
 * would begin a cell; negative amounts do not.
 */
function cell(value: CsvCell): string {
  let text = String(value ?? '');
  if (!/^-?\d+(\.\d+)?$/.test(text)) {
    text = text.replace(/^(?=[\t\r\n])/, "'").replaceAll(formulas, "$1'");
  }
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
