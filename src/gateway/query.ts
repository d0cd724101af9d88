// Reads the query of a request in one pass. Koa's parser searches all parameters again for each of
// them, so one query of many equal names would keep the process busy for a second.

import type { Context } from 'koa';

export type Query = Readonly<Record<string, string | readonly string[]>>;

/** The texts of the parameters by their names. A repeated parameter has an array of texts. */
export function queryOf({ querystring }: Pick<Context, 'querystring'>): Query {
  const query = new Map<string, string | string[]>();
  for (const [name, text] of new URLSearchParams(querystring)) {
    const known = query.get(name);
    if (known === undefined) query.set(name, text);
    else if (typeof known === 'string') query.set(name, [known, text]);
    else known.push(text);
  }
  return Object.fromEntries(query);
}
