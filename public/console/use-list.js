// A list of the console in pages. It is read again by itself while only its first page is open.

import { usePages } from '../pagination.js';
import { isPaused } from './keyboard.js';

/** Further pages would cost a call each, and what they show changes seldom. */
const onFirstPage =
  (rows, everyMs) =>
  ({ data }) =>
    data.length > rows ? null : everyMs;

/** `asked`: the filters. `rowsOf`: the rows of an answer, each with an `id` or a `number`. */
export function useList(api, path, { asked = {}, size = 50, everyMs, rowsOf = (data) => data }) {
  const ask = async (after, limit) => {
    const search = new URLSearchParams({ ...asked, limit, ...(after ? { after } : {}) });
    const { data, next } = await api.get(`${path}?${search}`);
    return { data: rowsOf(data), next };
  };
  const filters = new URLSearchParams(asked).toString();
  return usePages(ask, size, onFirstPage(size, everyMs), [api, path, filters], isPaused);
}

export const withId = (name) => (rows) => rows.map((row) => ({ ...row, id: row[name] }));
