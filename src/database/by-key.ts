// Conditions on the rows that a statement finds by their keys. A plain condition on the `state`
// of a job or on `owes` is also the condition of a partial index. If the statistics of the table are
// from a time with few such rows, PostgreSQL prefers that index to the key, and reads all of its
// entries for one row. It cannot use these conditions for an index.

/** True for a task that may answer a repeat without a key. */
export const mayAnswerRepeats = `((repeats is null) is false)`;

/** True if the job, callback or file has one of these states. */
export function isInState(...states: readonly [string, ...string[]]): string {
  return `((state || '') in (${states.map((state) => `'${state}'`).join(', ')}))`;
}

/** True if the row owes this. An equation of `owes` would show PostgreSQL that it is not null. */
export const isOwing = (duty: string) => `(coalesce(cast(owes as text), '') = '${duty}')`;

/**
 * For a statement that joins rows with a list in JSON. PostgreSQL expects a hundred rows in each such
 * list, and would rather read a table of ten thousand rows than look up a hundred keys. It knows the
 * length of an array.
 */
export const isOneOf = (column: string, ids: string) => `${column} = any(cast(${ids} as text[]))`;
