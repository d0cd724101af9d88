// Prints a line when a step of a script begins, and a line with the duration when the step ends.
// The lines go to standard error, because standard output is for results.

export async function step(label, work) {
  const startedAt = Date.now();
  const end = (mark) => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    process.stderr.write(`${mark} ${label} (${seconds} s)\n`);
  };
  process.stderr.write(`… ${label}\n`);
  try {
    await work();
    end('✓');
  } catch (error) {
    end('✗');
    throw error;
  }
}
