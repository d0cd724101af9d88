// Counts what runs at once in this process, by name and in all.

export interface AtOnceCounter {
  /** Counts one more, unless the name itself (`own`) or all names together (`all`) have too many. */
  enter(name: string): 'entered' | 'own' | 'all';
  leave(name: string): void;
}

export function countAtOnce(ownMax: number, allMax: number): AtOnceCounter {
  const running = new Map<string, number>();
  let all = 0;
  const countOf = (name: string) => running.get(name) ?? 0;
  return {
    enter(name) {
      if (countOf(name) >= ownMax) return 'own';
      if (all >= allMax) return 'all';
      all += 1;
      running.set(name, countOf(name) + 1);
      return 'entered';
    },
    leave(name) {
      all -= 1;
      if (countOf(name) > 1) running.set(name, countOf(name) - 1);
      else running.delete(name);
    },
  };
}
