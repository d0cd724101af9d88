// Admin commands while the database is slow, as on a machine on which everything starts.

import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { adminWith } from '../support/admin';
import { createTestDatabase } from '../support/database';

test('an admin command waits for a database that answers late', async () => {
  const database = await createTestDatabase();
  const { hostname, port } = new URL(database.operatorUrl);
  let first = true;
  const slow = createServer((caller) => {
    const delay = first ? 4_000 : 0;
    first = false;
    caller.on('error', () => undefined);
    void pause(delay).then(() => {
      const server = connect(Number(port || 5432), hostname);
      server.on('error', () => caller.destroy());
      caller.pipe(server).pipe(caller);
    });
  });
  await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
  const url = new URL(database.operatorUrl);
  url.host = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const admin = adminWith(() => ({ DATABASE_URL: url.href, STUDIO_URL: 'http://127.0.0.1:1' }));
  try {
    const { json } = await admin(['accounts', 'create', '--name', 'Acme', '--json']);
    expect(json.accountId).toMatch(/^acct_/);
  } finally {
    slow.close();
    await database.drop();
  }
});
