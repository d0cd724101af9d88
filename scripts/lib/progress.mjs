// The output of a script: each step prints its end and its time. During a step a terminal shows one
// changing line; without a terminal a line is added every ten seconds.

let out = process.stdout;

/** The output stream; another one if standard output is needed for results. */
export function sayOn(stream) {
  out = stream;
}

/** Runs `work` as one step named `label`. `work` may return a line about its end. */
export async function step(label, work) {
  const isTerminal = out.isTTY === true;
  const startedAt = Date.now();
  const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1);
  const show = () => {
    const text = `… ${label} (${seconds()} s)`;
    // A line that wraps could not be overwritten. The width of a terminal may be unknown.
    out.write(isTerminal ? `\r\x1b[K${text.slice(0, (out.columns || 80) - 1)}` : `${text}\n`);
  };
  const timer = setInterval(show, isTerminal ? 200 : 10_000);
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
