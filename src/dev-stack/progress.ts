// Prints the progress while the stack starts. Each step prints a line when it begins, and a line
// with its duration when it ends.

export interface Progress {
  step<T>(label: string, work: () => Promise<T>): Promise<T>;
  line(text: string): void;
}

export const silent: Progress = {
  step: (_label, work) => work(),
  line: () => undefined,
};

export function createProgress(out: { write(text: string): unknown }): Progress {
  const line = (text: string) => void out.write(`${text}\n`);
  return {
    line,
    async step(label, work) {
      const startedAt = Date.now();
      const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
      line(`… ${label}`);
      try {
        const result = await work();
        line(`✓ ${label} (${seconds()})`);
        return result;
      } catch (error) {
        line(`✗ ${label} (${seconds()})`);
        throw error;
      }
    },
  };
}
