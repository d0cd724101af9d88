// A clock that can be set ahead, so that a day or a week need not be waited for. It moves the time
// that is read, not the timers: a studio lets its jobs catch up whenever it is asked for something.

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

export interface Clock {
  advance(ms: number): void;
}

/** For the tests of the file that calls it; each begins at the true time. */
export function useClock(): Clock {
  const trueNow = Date.now.bind(Date);
  let aheadMs = 0;
  beforeEach(() => {
    aheadMs = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => trueNow() + aheadMs);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  return {
    advance(ms) {
      aheadMs += ms;
    },
  };
}
