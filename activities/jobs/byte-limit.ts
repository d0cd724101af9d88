// Limits how many bytes several pieces of work hold in memory at the same time. The others wait in
// the order of their arrival.

export type ByteLimit = <T>(bytes: number, work: () => Promise<T>) => Promise<T>;

/** Work with more bytes than the maximum runs alone. */
export function createByteLimit(bytesMax: number): ByteLimit {
  let held = 0;
  const waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  const letIn = (): void => {
    for (;;) {
      const [next] = waiting;
      if (!next || (held > 0 && held + next.bytes > bytesMax)) return;
      waiting.shift();
      held += next.bytes;
      next.begin();
    }
  };
  return async (bytes, work) => {
    if (bytes === 0) return work();
    await new Promise<void>((begin) => {
      waiting.push({ bytes, begin });
      letIn();
    });
    try {
      return await work();
    } finally {
      held -= bytes;
      letIn();
    }
  };
}
