// Processes a list, with a limited number of items at the same time.

/** Rejects with the first error. After that error, the work on further items may still begin. */
export async function eachAtOnce<T>(
  items: readonly T[],
  max: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
}
