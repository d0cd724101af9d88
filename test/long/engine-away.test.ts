// Killed ten times, and away for five seconds each time.

import { type OwnEngine, startOwnEngine, testEngineAway } from '../system/engine-away';

let own: OwnEngine;
beforeAll(async () => {
  own = await startOwnEngine();
}, 60_000);
afterAll(() => own?.close());

testEngineAway(() => own, { rounds: 10, awayMs: 5_000 });
