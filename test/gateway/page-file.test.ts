// Tests of the files for browsers.

import { answerPageFile, pageFile } from '../../src/gateway/page-file';

test('all replies with a text share its bytes, so that unread ones hold no copies', () => {
  const file = pageFile('text/html', '<p>é</p>');
  const [first, second] = [1, 2].map(() => {
    const ctx = { set: () => undefined, type: '', status: 0, body: undefined, fresh: false };
    answerPageFile(ctx, file);
    return ctx.body as unknown;
  });
  expect(first).toBe(second);
  expect(first).toEqual(Buffer.from('<p>é</p>'));
});
