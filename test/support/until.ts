// Waits for a condition. It is checked every 25 ms at first, and less often the longer it takes, up to
// four times a second: many checks ask a server. The time limit only ends a test that hangs.

export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 120_000,
): Promise<void> {
  const started = Date.now();
  while (!(await isSo())) {
    const passed = Date.now() - started;
    if (passed > withinMs) throw new Error(`Not in time: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(passed / 8, 25), 250)));
  }
}
