// What a start says while it goes on: one line per step with the time it took, and while steps last
// something moves at least every second and a half.

export interface Progress {
  /**
   * Runs `work` as one step; it may answer with what to say at its end instead of the step's name.
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
    const text = `… ${steps.join(', ')}`;
    // A terminal's line is written over; elsewhere each is a line of its own, and fewer of them do.
    out.write(out.isTTY ? `${clear}${text.slice(0, out.columns - 1)}` : `${text}\n`);
  };
  const line = (text: string) => out.write(`${clear}${text}\n`);

  return {
    line,
    async step(label, work) {
      const step = { label, startedAt: Date.now() };
      let end = label;
      going.set(step, step);
      timer ??= setInterval(show, out.isTTY ? 200 : 1_500);
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
