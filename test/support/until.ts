// Waiting for a condition: asked again every few milliseconds, given up after a limit that is for
// liveness only.

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
