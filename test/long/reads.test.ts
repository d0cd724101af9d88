// 20,000 reads through two APIs, in ten rounds.

import { type Service, startService } from '../support/service';
import { testReads } from '../system/reads';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

testReads(() => service, { rounds: 10 });
