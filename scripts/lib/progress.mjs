// The output of a script: a line at the beginning of each step, and one with its time at its end. It
// goes to standard error, because standard output is for results.

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
