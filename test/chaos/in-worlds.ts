// Plays cases in several worlds at the same time, in each world one after another. Most of a case is
// waiting until a fault is noticed.

import type { Created } from './client';
import type { World } from './world';

/** A world, and all creates that were made in it. */
export interface Stage {
  readonly world: World;
  readonly creates: Created[];
}

interface Plays<Case, Played extends Stage> {
  readonly cases: readonly Case[];
  /** The number of times that each case is played. */
  readonly copies?: number;
  readonly worlds: number;
  open(): Promise<Played>;
  play(stage: Played, one: Case): Promise<void>;
}

/** Returns a function that waits until all copies of the nth case were played. */
export function playInWorlds<Case, Played extends Stage>({
  cases,
  copies = 1,
  worlds,
  open,
  play,
}: Plays<Case, Played>): (n: number) => Promise<unknown> {
  const stages: Played[] = [];
  const waiting = cases.flatMap((one, n) => Array.from({ length: copies }, () => ({ one, n })));
  const left = cases.map(() => copies);
  const failures: unknown[][] = cases.map(() => []);
  const wake: (() => void)[] = [];

  async function playAll(stage: Played): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { one, n } = next;
      await play(stage, one).catch((failure) => failures[n]?.push(failure));
      left[n] = (left[n] ?? 0) - 1;
      for (const look of wake.splice(0)) look();
    }
  }

  beforeAll(async () => {
    // The worlds start one after another, because each searches for free ports.
    while (stages.length < worlds) stages.push(await open());
    for (const stage of stages) void playAll(stage);
  }, worlds * 120_000);
  afterAll(() => Promise.all(stages.map(({ world }) => world.close())));

  return async (n) => {
    while (left[n] !== 0) await new Promise<void>((look) => wake.push(look));
    if (failures[n]?.length) throw failures[n]?.[0];
  };
}
