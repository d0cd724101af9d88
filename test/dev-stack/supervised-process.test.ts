// Tests the restarts of a part that ends by itself, with fake timers.

import { createPart, type Death, type Part } from '../../src/dev-stack/supervised-process';
import type { Child } from '../../src/embedded/child';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

interface World {
  readonly part: Part;
  readonly deaths: Death[];
  readonly givenUp: string[];
  lives(): number;
  die(): Promise<void>;
}

function aPart(supervised: boolean): World {
  let lives = 0;
  let end: (how: { code: number | null; signal: string | null }) => void = () => undefined;
  const deaths: Death[] = [];
  const givenUp: string[] = [];
  const part = createPart({
    name: 'api',
    supervised,
    async launch() {
      lives += 1;
      const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
        end = resolve;
      });
      const child = { pid: lives, exited, isAlive: () => true, lastWords: () => 'it hurts' };
      return { child: child as unknown as Child, stop: async () => end({ code: 0, signal: null }) };
    },
    onStarted: () => undefined,
    onDeath: (death) => void deaths.push(death),
    onBack: () => undefined,
    onGivenUp: (error) => void givenUp.push(error.message),
  });
  return {
    part,
    deaths,
    givenUp,
    lives: () => lives,
    async die() {
      end({ code: 1, signal: null });
      await jest.advanceTimersByTimeAsync(0);
    },
  };
}

test('a process that dies is started again', async () => {
  const { part, deaths, die, lives } = aPart(true);
  await part.start();
  await die();
  expect(deaths).toEqual([{ how: 'ended with code 1', lastWords: 'it hurts', againInMs: 1_000 }]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(lives()).toBe(2);
});

test('after ten runs of less than a minute in a row the process is not restarted', async () => {
  const { part, deaths, givenUp, die, lives } = aPart(true);
  await part.start();
  await die();
  // The second run is long, so the count begins anew.
  await jest.advanceTimersByTimeAsync(62_000);
  while (givenUp.length === 0) {
    await die();
    await jest.advanceTimersByTimeAsync(1_000);
  }
  expect(lives()).toBe(11);
  expect(givenUp).toEqual([expect.stringMatching(/^api .*code 1 10 times/)]);
  expect(deaths.at(-1)?.againInMs).toBeNull();
});

test('a stopped process and a process without supervision are not restarted', async () => {
  const stopped = aPart(true);
  await stopped.part.start();
  await stopped.part.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(stopped.lives()).toBe(1);
  expect(stopped.deaths).toEqual([]);

  const alone = aPart(false);
  await alone.part.start();
  await alone.die();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(alone.lives()).toBe(1);
  expect(alone.deaths).toEqual([expect.objectContaining({ againInMs: null })]);
});
