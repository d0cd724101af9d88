// A clock that can be set ahead, so that no test waits for a day or a week. The clock changes
// Date.now but no timers, because the studio applies due changes at every request.

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

interface Clock {
  advance(ms: number): void;
}

/** Applies to all tests of the calling file. Each test starts at the real time. */
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
