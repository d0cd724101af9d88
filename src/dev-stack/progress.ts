// The output of a start: one line per step with its time. During a step a terminal shows one
// changing line; without a terminal a line is added every ten seconds.

export interface Progress {
  /**
   * Runs `work` as one step. `work` may return a line that is printed at its end instead of the
   * step's name.
   */
  step<T>(label: string, work: (say: (end: string) => void) => Promise<T>): Promise<T>;
  line(text: string): void;
}

export const silent: Progress = {
  step: (_label, work) => work(() => undefined),
  line: () => undefined,
};

export function createProgress(out: NodeJS.WriteStream): Progress {
  const going = new Map<object, { label: string; startedAt: number }>();
  const seconds = (startedAt: number) => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  let timer: NodeJS.Timeout | undefined;

  const clear = out.isTTY ? '\r\x1b[K' : '';
  const show = () => {
    const steps = [...going.values()].map((step) => `${step.label} (${seconds(step.startedAt)})`);
    out.write(out.isTTY ? `${clear}${fitted(steps, out.columns)}` : `… ${steps.join(', ')}\n`);
  };
  const line = (text: string) => out.write(`${clear}${text}\n`);

  return {
    line,
    async step(label, work) {
      const step = { label, startedAt: Date.now() };
      let end = label;
      going.set(step, step);
      timer ??= setInterval(show, out.isTTY ? 200 : 10_000);
      try {
        const result = await work((text) => {
          end = text;
        });
        line(`✓ ${end} (${seconds(step.startedAt)})`);
        return result;
      } catch (error) {
        line(`✗ ${label} (${seconds(step.startedAt)})`);
        throw error;
      } finally {
        going.delete(step);
        if (going.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      }
    },
  };
}

// If the width of a terminal is unknown, it has 0 columns or none.
const usualColumns = 80;

/**
 * One line of the terminal, because a longer one could not be overwritten: the steps that fit, the
 * oldest first, and the number of the others.
 */
function fitted(steps: readonly string[], columns: number | undefined): string {
  const width = (columns || usualColumns) - 1;
  for (let shown = steps.length; shown > 0; shown -= 1) {
    const left = steps.length - shown;
    const text = `… ${steps.slice(0, shown).join(', ')}${left > 0 ? `, ${left} more` : ''}`;
    if (text.length <= width) return text;
  }
  return `… ${steps[0]}`.slice(0, width);
}
