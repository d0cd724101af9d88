/*
 * When what is due: a binary heap of moments, so that ten thousand waiting jobs cost one timer and
 * not ten thousand. An entry may be stale (its job has moved on); the reader checks and drops it.
 */

interface Due {
  at: number;
  id: string;
}

export function createDueList() {
  const heap: Due[] = [];

  function push(due: Due): void {
    let at = heap.push(due) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.at <= due.at) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = due;
  }

  function pop(): Due | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child += 1;
      if (heap[child]!.at >= last.at) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  return { push, pop, nextAt: (): number | undefined => heap[0]?.at };
}
