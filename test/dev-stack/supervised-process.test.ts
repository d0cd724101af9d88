// Tests the restarts of a part that ends by itself, with fake timers. The pause before a restart
// grows. After too many short runs there is no restart.

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
    onEnded: () => undefined,
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

test('the pause before a restart doubles up to ten seconds', async () => {
  const { part, deaths, die, lives } = aPart(true);
  await part.start();
  for (let life = 1; life <= 7; life += 1) {
    await die();
    await jest.advanceTimersByTimeAsync(deaths.at(-1)?.againInMs ?? 0);
    expect(lives()).toBe(life + 1);
  }
  expect(deaths.map(({ againInMs }) => againInMs)).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
  ]);
  expect(deaths[0]).toMatchObject({ how: 'ended with code 1', lastWords: 'it hurts' });
});

test('after ten short runs in a row the process is not restarted', async () => {
  const { part, deaths, givenUp, die, lives } = aPart(true);
  await part.start();
  while (givenUp.length === 0) {
    await die();
    await jest.advanceTimersByTimeAsync(10_000);
  }
  expect(lives()).toBe(10);
  expect(givenUp).toEqual([expect.stringMatching(/^api .*code 1 10 times/)]);
  expect(deaths.at(-1)?.againInMs).toBeNull();
});

test('after a run of at least a minute the pause before a restart is short again', async () => {
  const { part, deaths, die } = aPart(true);
  await part.start();
  await die();
  await jest.advanceTimersByTimeAsync(500);
  await jest.advanceTimersByTimeAsync(61_000);
  await die();
  expect(deaths.map(({ againInMs }) => againInMs)).toEqual([500, 500]);
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
