// Keeps a row that cannot be stored or read from blocking the other rows of its statement.

interface BadRow<Row> {
  readonly row: Row;
  readonly error: Error;
  /** The SQLSTATE of the error. The text of the error may contain values of customers. */
  readonly state: string;
}

interface Outcome<Row, Done> {
  readonly done: readonly Done[];
  readonly bad: readonly BadRow<Row>[];
}

/**
 * Runs the statement for all rows. If a value makes it fail, runs it for each half of the rows, and so
 * on down to the bad rows. A repetition would fail too, so these are returned. All other errors are
 * thrown: a lost connection, a lock, a deadlock. Not for statements of a transaction.
 */
export async function withoutBadRows<Row, Done>(
  rows: readonly Row[],
  statement: (rows: readonly Row[]) => Promise<readonly Done[]>,
): Promise<Outcome<Row, Done>> {
  try {
    return { done: await statement(rows), bad: [] };
  } catch (error) {
    const state = stateOfValues(error);
    const [row] = rows;
    if (state === null || row === undefined) throw error;
    if (rows.length === 1) return { done: [], bad: [{ row, error: error as Error, state }] };
    const half = Math.ceil(rows.length / 2);
    const first = await withoutBadRows(rows.slice(0, half), statement);
    const second = await withoutBadRows(rows.slice(half), statement);
    return { done: [...first.done, ...second.done], bad: [...first.bad, ...second.bad] };
  }
}

/**
 * The SQLSTATE of an error that a value causes: wrong data (22), a violated constraint (23), or a
 * limit such as the depth of JSON (54). Null for any other error.
 */
function stateOfValues(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(22|23|54)[0-9A-Z]{3}$/.test(code) ? code : null;
}
