// The output of a script: a line at the beginning of each step, and one with its time at its end.

let out = process.stdout;

/** The output stream; another one if standard output is needed for results. */
export function sayOn(stream) {
  out = stream;
}

export async function step(label, work) {
  const startedAt = Date.now();
  const end = (mark) => {
    out.write(`${mark} ${label} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`);
  };
  out.write(`… ${label}\n`);
  try {
    await work();
    end('✓');
  } catch (error) {
    end('✗');
    throw error;
  }
}
