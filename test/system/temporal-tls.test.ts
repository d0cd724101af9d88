// Tests TLS to Temporal with a client certificate, for the API's connection and for the worker's.
// The development server has no TLS, so the connections go through a proxy that demands a
// certificate.

import { connect as connectTo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { temporalAccess } from '../../src/commands/checks';
import { readConfig } from '../../src/config/config';
import { lazyConnection } from '../../src/engine/connection';
import { connectTo as connectWorker } from '../../src/engine/connections';
import { signedCertificate, signedKey, testAuthority } from '../support/certificate';
import { temporalAddress } from '../support/temporal';

let proxy: Server;
let address = '';
beforeAll(async () => {
  const [host = '', port] = temporalAddress().split(':');
  const tls = {
    ...{ key: signedKey, cert: signedCertificate, ca: testAuthority },
    ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] },
  };
  proxy = createServer(tls, (client) => {
    const upstream = connectTo(Number(port), host);
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  // A client without a certificate causes this event. It must not end the test.
  proxy.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(proxy.address() as { port: number }).port}`;
});
afterAll(() => new Promise((done) => proxy.close(done)));

const whole = {
  TEMPORAL_TLS_CA: testAuthority,
  TEMPORAL_TLS_CERT: signedCertificate,
  TEMPORAL_TLS_KEY: signedKey,
  TEMPORAL_TLS_SERVER_NAME: 'localhost',
};
const accessWith = (given: Readonly<Record<string, string>>) =>
  temporalAccess(readConfig('admin', { TEMPORAL_ADDRESS: address, ...given }));

async function askAsApi(given: Readonly<Record<string, string>>): Promise<void> {
  const connection = lazyConnection({ ...accessWith(given), namespace: 'default' });
  try {
    await connection.workflowService.getSystemInfo({});
  } finally {
    await connection.close();
  }
}

async function askAsWorker(given: Readonly<Record<string, string>>): Promise<void> {
  const access = {
    ...accessWith(given),
    namespace: 'default',
    taskQueue: 'none',
    encryptionKeys: [],
  };
  const connections = await connectWorker(access);
  try {
    await connections.client.workflowService.getSystemInfo({});
  } finally {
    await connections.close();
  }
}

describe.each([
  ['the API', askAsApi],
  ['the worker', askAsWorker],
])('%s', (_who, ask) => {
  test('connects to Temporal with a client certificate, a CA certificate and a server name', async () => {
    await ask(whole);
  });

  test.each([
    ['without a client certificate', { TEMPORAL_TLS_CERT: '', TEMPORAL_TLS_KEY: '' }],
    ['without the CA certificate', { TEMPORAL_TLS_CA: '' }],
    ['with another server name', { TEMPORAL_TLS_SERVER_NAME: 'elsewhere' }],
  ])('cannot connect to Temporal %s', async (_what, over) => {
    await expect(ask({ ...whole, ...over })).rejects.toThrow();
  });
});

test.each([
  ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'],
  ['TEMPORAL_TLS_KEY', 'TEMPORAL_TLS_CERT'],
])(
  'if only %s is set, the configuration is refused with a message that names %s',
  (set, absent) => {
    const given = { DATABASE_URL: 'postgres://a/b', TEMPORAL_ADDRESS: 'a:1', [set]: 'some text' };
    expect(() => readConfig('worker', given)).toThrow(`${absent} is not set, but ${set}`);
  },
);
