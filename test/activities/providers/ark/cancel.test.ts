// These tests check which answers to a cancel count as done, and after which the cancel is
// repeated.

import { createArk } from '../../../../activities/providers/ark/client';
import { type Canned, startCanned } from '../../../support/canned';

let provider: Canned;
beforeAll(async () => {
  provider = await startCanned();
});
afterAll(() => provider?.close());

const cancel = (status: number) => {
  provider.say = () => ({ status, body: { error: { code: 'Code' } } });
  const access = { apiKey: 'key', timeoutMs: 5_000, honoursIdempotencyKey: false, hasList: true };
  return createArk({ baseUrl: provider.url, ...access }).cancel('cgt-1');
};

test.each([200, 204, 400, 404, 409])(
  'a cancel with the answer %i counts as done',
  async (status) => {
    await expect(cancel(status)).resolves.toBeUndefined();
  },
);

test.each([401, 403, 408, 429, 500, 503])(
  'a cancel with the answer %i fails, so that it is retried',
  async (status) => {
    await expect(cancel(status)).rejects.toMatchObject({ name: 'UpstreamFault' });
  },
);
