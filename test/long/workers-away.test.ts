// All workers are down for a minute with 20 creates a second.

import { type OwnTemporal, startOwnTemporal, testWorkersAway } from '../system/temporal-away';

let own: OwnTemporal;
beforeAll(async () => {
  own = await startOwnTemporal();
}, 60_000);
afterAll(() => own?.close());

testWorkersAway(() => own, { creates: 1_200, awayMs: 60_000 });
