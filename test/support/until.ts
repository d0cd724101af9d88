// Waits for a condition: it is checked every few milliseconds, up to a limit for liveness only.

export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 60_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
