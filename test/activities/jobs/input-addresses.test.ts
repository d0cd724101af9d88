// These tests check which address a generator gets for an uploaded input file. They also cover a
// file that was deleted before its job was sent.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Knex } from 'knex';
import { withInputAddresses } from '../../../activities/jobs/input-addresses';
import { openDirectory } from '../../../src/files/storage/directory';
import type { Storage } from '../../../src/files/storage/storage';
import { createAccount } from '../../../src/money/new-account.rows';
import { aJobInput, aPlan, aRequest } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { plantFile } from '../../support/files';
import { startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let db: Knex;
let folder: string;
let storage: Storage;
let accountId: string;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  folder = await mkdtemp(join(tmpdir(), 'video-inputs-'));
  storage = await openDirectory(folder);
  ({ accountId } = await createAccount(db, {
    name: 'a',
    creditMicros: 1,
  }));
  upstream = await startUpstream(db);
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

async function job() {
  const image = await plantFile({ db, storage, accountId }, Buffer.from('an image'), {
    media: 'image',
    content_type: 'image/png',
  });
  const other = 'https://example.com/a.png';
  return {
    image,
    other,
    input: aJobInput({
      accountId,
      request: aRequest({ images: [image.id, other] }),
      plan: aPlan({ files: { [image.id]: image.id } }),
    }),
  };
}

const sentFor = async (
  input: Awaited<ReturnType<typeof job>>['input'],
  { publicUrl = 'http://localhost', ...over }: { storage?: Storage; publicUrl?: string } = {},
) => {
  const deps = { db, storage, settings: { publicUrl, dangerouslyAllowProviderHosts: [] }, ...over };
  return withInputAddresses(deps, input);
};

test('the generator gets a signed link of the storage if the storage can sign links', async () => {
  const { input, other } = await job();
  const asked: unknown[] = [];
  const signing: Storage = {
    ...storage,
    presigned: async (...call) => {
      asked.push(call[1]);
      return 'https://s3.example.com/signed';
    },
  };
  const { request } = await sentFor(input, { storage: signing });
  expect(request.images).toEqual(['https://s3.example.com/signed', other]);
  expect(asked).toEqual([{ seconds: 172_800, contentType: 'image/png', from: input.createdAt }]);
});

test('the generator gets no signed link of a storage that it cannot reach', async () => {
  const { input, image, other } = await job();
  const inside: Storage = { ...storage, presigned: async () => 'http://minio:9000/signed' };
  const given = { storage: inside, publicUrl: 'https://api.example.com' };
  const { request } = await sentFor(input, given);
  expect(request.images).toEqual([`https://api.example.com/files/${image.token}.png`, other]);
});

test('the generator gets a link of this service if the public URL can be reached from outside', async () => {
  const { input, image, other } = await job();
  const { request } = await sentFor(input, { publicUrl: 'https://api.example.com' });
  expect(request.images).toEqual([`https://api.example.com/files/${image.token}.png`, other]);
});

test('the generator gets the bytes of an input file if no link can be reached from outside', async () => {
  const { input, other } = await job();
  const { request, inlineFiles = [] } = await sentFor(input);
  const [file] = inlineFiles;
  expect(request.images).toEqual([`data:image/png;base64,${file?.mark}`, other]);
  expect(file?.bytes).toBe(8);
  const bytes = await file?.open();
  expect(String(bytes && (await buffer(bytes)))).toBe('an image');
});

test('the inputs of an enhancement and of a job without files stay unchanged', async () => {
  const input = aJobInput({ accountId });
  expect(await sentFor(input)).toBe(input);
  const enhancement = { ...(await job()).input, kind: 'super_resolution' as const };
  expect(await sentFor(enhancement)).toBe(enhancement);
});

test.each([
  ['caller', 'An input file was deleted before it was sent to the generator.'],
  ['expired', 'An input file expired before it was sent to the generator.'],
  ['operator', 'An input file was removed by the operator before it was sent to the generator.'],
])(
  'a job whose input file was removed (%s) is rejected by this service without a request, with the reason',
  async (because, sentence) => {
    const gone = await plantFile({ db, storage, accountId }, Buffer.from('x'), {
      media: 'image',
      content_type: 'image/png',
      state: 'removed',
      removed_because: because,
    });
    const [channel] = (await upstream.input()).plan.channels;
    const plan = aPlan({ files: { [gone.id]: gone.id }, channels: channel ? [channel] : [] });
    const input = await upstream.input({}, { accountId, plan });
    const failure = { code: 'input_removed', sentence, ours: true };
    expect(await upstream.attempt(input)).toMatchObject({
      outcome: 'rejected',
      report: { failure },
    });
    expect(await upstream.accepted(input.taskId)).toBe(0);
  },
);
