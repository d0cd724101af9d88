// Cuts the database connection while an upload is recorded as stored. The record may have been
// stored or not. In both cases no stored row may lack its bytes, and the clean-up leaves no bytes
// without a stored row.

import { startCutApi, type TestApi } from '../../support/api';
import type { Cutter } from '../../support/cutter';
import { expireUploads, lengthOf, mp4 } from '../../support/files';
import { deleteDueFiles } from '../../support/owed';

let api: TestApi;
let cutter: Cutter;
beforeAll(async () => {
  ({ api, cutter } = await startCutApi());
});
afterAll(async () => {
  await api?.close();
  await cutter?.close();
});

test.each([
  ['before', 'awaited', 0],
  ['after', 'stored', 1],
] as const)(
  'if the database connection is cut %s the end of an upload is recorded, the row has the state %s',
  async (when, state, left) => {
    const { db, storage } = api;
    await db('files').delete();
    cutter.cutAt("set state = 'stored', length", when);
    const reply = await fetch(`${api.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.apiKey}` },
      body: mp4(4),
    });
    expect([reply.status, cutter.hasCut()]).toEqual([503, true]);
    expect(await reply.json()).toMatchObject({ error: { code: 'outcome_unknown' } });
    const [row] = await db('files').select('state', 'key');
    expect(row.state).toBe(state);
    expect(await lengthOf(storage, row.key)).toBe(mp4(4).length);
    await expireUploads(db);
    await deleteDueFiles({ db, storage });
    expect(await db('files').where({ state: 'stored' })).toHaveLength(left);
    expect(await db('files').where({ state: 'awaited' })).toEqual([]);
    expect(await lengthOf(storage, row.key)).toBe(left === 1 ? mp4(4).length : null);
  },
);
