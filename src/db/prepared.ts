// Statements of the busiest paths are prepared: each connection lets PostgreSQL parse and plan them
// once, by their name, which is half of what a small one costs there. A name stands for one text.

/** For `raw(…).options(…)`. */
export function prepared(name: string): { readonly name: string } {
  return { name };
}
