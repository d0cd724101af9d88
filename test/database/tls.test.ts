// Tests TLS to PostgreSQL with the settings in DATABASE_URL.

import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDatabase } from '../../src/commands/checks';
import { connect } from '../../src/database/database';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres';
import {
  signedCertificate,
  signedKey,
  testAuthority,
  testCertificate,
} from '../support/certificate';
import { until } from '../support/until';

let folder: string;
let server: EmbeddedPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-tls-'));
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'authority.pem'), testAuthority);
  await writeFile(join(folder, 'other.pem'), testCertificate);
  const dataDir = join(folder, 'postgres');
  server = await startPostgres({ dataDir, forgetful: true });
  const { uid, gid } = await stat(dataDir);
  for (const [name, text] of [
    ['server.crt', signedCertificate],
    ['server.key', signedKey],
  ] as const) {
    const file = join(dataDir, name);
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    await chown(file, uid, gid);
  }
  const db = connect({ url: server.url, poolMax: 1, applicationName: 'test' });
  await db.raw('alter system set ssl = on');
  await db.raw('select pg_reload_conf()');
  await db.destroy();
  await until('PostgreSQL uses TLS', async () => (await isEncrypted('verify-full')) === true);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

function urlWith(
  sslmode: string,
  { host = 'localhost', authority = 'authority.pem' } = {},
): string {
  const url = new URL(server.url);
  url.hostname = host;
  url.searchParams.set('sslmode', sslmode);
  url.searchParams.set('sslrootcert', join(folder, authority));
  return url.href;
}

async function ask(url: string): Promise<boolean> {
  const db = connect({ url, poolMax: 1, applicationName: 'test' });
  try {
    const { rows } = await db.raw('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return rows[0].ssl;
  } finally {
    await db.destroy();
  }
}

const isEncrypted = (sslmode: string) => ask(urlWith(sslmode)).catch(() => null);

test.each(['verify-full', 'require'])(
  'a connection with `sslmode=%s` is encrypted and checks the certificate',
  async (mode) => {
    expect(await ask(urlWith(mode))).toBe(true);
    const wrong = urlWith(mode, { authority: 'other.pem' });
    await expect(checkDatabase(wrong)).rejects.toThrow(/certificate/);
  },
);
