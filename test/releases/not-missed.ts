// What a later step takes from a frozen version although its schema has it: a version keeps what only the
// version before uses, and a faulty function must be replaced. By version, each sentence of `takenAway` with
// the reason why no process of that version misses it.

export const notMissed: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
