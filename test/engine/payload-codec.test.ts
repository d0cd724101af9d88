// Tests the codec for Temporal payloads. The codec encrypts with the first key. It decrypts with
// the key whose id is stored with the payload.

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultPayloadConverter } from '@temporalio/common';
import { createCodecHandler } from '../../src/engine/codec-server';
import { createPayloadCodec, encryptionWith } from '../../src/engine/payload-codec';

const aKey = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const older = aKey('2025', 1);
const newer = aKey('2026', 2);
const payload = () => defaultPayloadConverter.toPayload({ url: 'planted-link' });
const textOf = (bytes: Uint8Array | null | undefined) =>
  Buffer.from(bytes ?? []).toString('latin1');

test('an encrypted payload does not show its value, and is decrypted to the same value', async () => {
  const codec = createPayloadCodec([newer]);
  const [stored] = await codec.encode([payload()]);
  expect(textOf(stored?.data)).not.toContain('planted-link');
  expect(textOf(stored?.metadata?.encryptionKeyId)).toBe('2026');
  const [read] = await codec.decode([stored!]);
  expect(defaultPayloadConverter.fromPayload(read!)).toEqual({ url: 'planted-link' });
});

test('a payload that was stored with an older key or without a key can be read', async () => {
  const [stored] = await createPayloadCodec([older]).encode([payload()]);
  const read = await createPayloadCodec([newer, older]).decode([stored!, payload()]);
  expect(read.map((one) => defaultPayloadConverter.fromPayload(one))).toEqual([
    { url: 'planted-link' },
    { url: 'planted-link' },
  ]);
});

test('the error for a payload whose key is missing names that key', async () => {
  const [stored] = await createPayloadCodec([older]).encode([payload()]);
  await expect(createPayloadCodec([newer]).decode([stored!])).rejects.toThrow(
    'ENCRYPTION_KEYS has no key "2025".',
  );
});

test('an encrypted payload that was changed is refused', async () => {
  const codec = createPayloadCodec([newer]);
  const [stored] = await codec.encode([payload()]);
  stored!.data![20]! ^= 1;
  await expect(codec.decode([stored!])).rejects.toThrow(
    'The key "2026" of ENCRYPTION_KEYS did not encrypt',
  );
});

const placeOf = (workflowId: string) =>
  ({ type: 'workflow', namespace: 'default', workflowId }) as const;

test('a payload that was copied to another workflow is refused, also if its name of the workflow was changed', async () => {
  const codec = createPayloadCodec([newer]);
  const [stored] = await codec.encode([payload()], placeOf('task-a'));
  const [read] = await codec.decode([stored!], placeOf('task-a'));
  expect(defaultPayloadConverter.fromPayload(read!)).toEqual({ url: 'planted-link' });
  await expect(codec.decode([stored!], placeOf('task-b'))).rejects.toThrow(/"task-a".*"task-b"/);
  const metadata = { ...stored!.metadata, workflow: Buffer.from('task-b') };
  await expect(codec.decode([{ ...stored!, metadata }], placeOf('task-b'))).rejects.toThrow(
    'of "task-b"',
  );
});

test('a run of a schedule can read the result of the run before it, and of no other schedule', async () => {
  const codec = createPayloadCodec([newer]);
  const run = (name: string, minute: number) => placeOf(`${name}-2026-11-27T04:0${minute}:00Z`);
  const [stored] = await codec.encode([payload()], run('reconcile:video', 1));
  const [read] = await codec.decode([stored!], run('reconcile:video', 2));
  expect(defaultPayloadConverter.fromPayload(read!)).toEqual({ url: 'planted-link' });
  await expect(codec.decode([stored!], run('audit:video', 2))).rejects.toThrow('was found in');
});

test('a payload that another key with the same id encrypted is refused by the name of the key', async () => {
  const [stored] = await createPayloadCodec([aKey('2026', 7)]).encode([payload()]);
  await expect(createPayloadCodec([newer]).decode([stored!])).rejects.toThrow(
    'The key "2026" of ENCRYPTION_KEYS did not encrypt',
  );
});

test('without a key there is no payload codec', () => {
  expect(encryptionWith([])).toEqual({});
});

describe('the codec endpoint', () => {
  const codec = createPayloadCodec([newer]);
  const server = createServer(createCodecHandler(codec, 'http://ui.example:8233'));
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: 'POST', body, headers });
  const wire = ({ metadata, data }: { metadata?: object | null; data?: Uint8Array | null }) => ({
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [
        name,
        Buffer.from(value as Uint8Array).toString('base64'),
      ]),
    ),
    data: Buffer.from(data ?? []).toString('base64'),
  });

  test('decrypts payloads for a request from the Temporal UI', async () => {
    const stored = await codec.encode([payload(), payload()]);
    const origin = 'http://ui.example:8233';
    const body = JSON.stringify({ payloads: stored.map(wire) });
    const answer = await post('/decode', body, { origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(await answer.json()).toEqual({ payloads: [wire(payload()), wire(payload())] });
  });

  test('leaves a payload of another key as it is, and decrypts the others', async () => {
    const [foreign] = await createPayloadCodec([older]).encode([payload()]);
    const [stored] = await codec.encode([payload()]);
    const answer = await post(
      '/decode',
      JSON.stringify({ payloads: [foreign!, stored!].map(wire) }),
    );
    expect(await answer.json()).toEqual({ payloads: [wire(foreign!), wire(payload())] });
  });

  test.each([
    ['a request from another origin', '/decode', '{}', { origin: 'http://evil.example' }, 403],
    ['a request to another path', '/', '{}', {}, 404],
    ['a request to encrypt', '/encode', '{"payloads":[]}', {}, 404],
    ['a request whose body is not JSON', '/decode', '{', {}, 400],
  ])('refuses %s', async (_, path, body, headers, status) => {
    expect((await post(path, body, headers as Record<string, string>)).status).toBe(status);
  });

  test.each([
    ['localhost:8234', 200],
    ['codec:8234', 200],
    ['[::1]:8234', 200],
    ['rebound.example.com:8234', 403],
  ])('answers a request without an origin by the name of the server: %s', async (host, status) => {
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const call = request(`${url}/decode`, { method: 'POST', headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      call.on('error', reject).end('{}');
    });
    expect(answered).toBe(status);
  });

  test('does not show the error of a parser', async () => {
    const answer = await post('/decode', '{"payloads": [hidden');
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toMatch(/hidden|token|JSON at/);
  });
});
