// Temporal is down five times for five seconds, and once for a minute with 20 creates a second.

import { type OwnTemporal, startOwnTemporal, testTemporalAway } from '../system/temporal-away';

let own: OwnTemporal;
beforeAll(async () => {
  own = await startOwnTemporal();
}, 60_000);
afterAll(() => own?.close());

testTemporalAway(() => own, { rounds: 5, creates: 20, awayMs: 5_000 });
testTemporalAway(() => own, { rounds: 1, creates: 1_200, awayMs: 60_000 });
