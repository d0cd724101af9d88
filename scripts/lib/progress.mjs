// What goes on, in lines a person reads: each step says when it is done and how long it took, and
// while it lasts something moves at least every second and a half.

let out = process.stdout;

/** Elsewhere than standard output, where that is for something else. */
export function sayOn(stream) {
  out = stream;
}

/**
 * Runs `work` as one step named `label`; it answers with what to say about the end, or with
 * nothing.
 */
export async function step(label, work) {
  const isTerminal = out.isTTY === true;
  const startedAt = Date.now();
  const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1);
  const timer = setInterval(
    () => {
      out.write(
        isTerminal ? `\r\x1b[K… ${label} (${seconds()} s)` : `… ${label} (${seconds()} s)\n`,
      );
    },
    isTerminal ? 200 : 1_500,
  );
  const end = (mark, text) => {
    clearInterval(timer);
    out.write(`${isTerminal ? '\r\x1b[K' : ''}${mark} ${text} (${seconds()} s)\n`);
  };
  try {
    const said = await work();
    end('✓', said ?? label);
  } catch (error) {
    end('✗', label);
    throw error;
  }
}
