// Tests of stored files as inputs of a create. A file is named by its id or its link, must belong
// to the account, and must be of the right kind.

import { setTerms } from '../../../src/accounts/terms.rows';
import { startApi, type TestApi, textBody } from '../../support/api';
import { mp4, type Planted, plantFile } from '../../support/files';

let api: TestApi;
let image: Planted;
let video: Planted;
const picture = { media: 'image', content_type: 'image/png' };
beforeAll(async () => {
  api = await startApi({ publicUrl: 'https://api.example.com' });
  image = await plantFile(api, Buffer.from('an image'), picture);
  video = await plantFile(api, mp4(4), { duration_ms: 4_000 });
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const link = ({ token }: Planted) => `https://api.example.com/files/${token}.png`;
const planOf = (id: string) => api.temporal.submitted.find(({ taskId }) => taskId === id)?.plan;

test.each([
  ['the id of a stored file', () => image.id],
  ['the link of a stored file', () => link(image)],
])('an input image can be given as %s, and the plan keeps the id of the file', async (_, sent) => {
  const { status, json } = await api.create({ images: [sent()] });
  expect(status).toBe(200);
  expect(planOf(json.id)?.files).toEqual({ [sent()]: image.id });
  expect((await api.create({ image: sent() })).status).toBe(200);
});

test('the plan of a request without stored files has no field `files`', async () => {
  const { json } = await api.create({ images: ['https://example.com/a.png'] });
  expect(planOf(json.id)).not.toHaveProperty('files');
});

test('an accepted task keeps its input files until its deadline, and no file for a shorter time', async () => {
  const soon = { ...picture, expires_at: api.db.raw(`now() + interval '1 minute'`) };
  const [first, second, other] = [
    await plantFile(api, Buffer.from('1'), soon),
    await plantFile(api, Buffer.from('2'), soon),
    await plantFile(api, Buffer.from('3'), soon),
  ];
  const images = [first.id, link(second), image.id];
  const { status, json } = await api.create({ images });
  expect(status).toBe(200);
  const task = await api.db('tasks').where({ id: json.id }).first('deadline_at');
  const expiryOf = async ({ id }: Planted) =>
    (await api.db('files').where({ id }).first('expires_at'))?.expires_at as Date;
  expect(await expiryOf(first)).toEqual(task?.deadline_at);
  expect(await expiryOf(second)).toEqual(task?.deadline_at);
  expect((await expiryOf(other)).getTime()).toBeLessThan(Date.now() + 60_000);
  expect((await expiryOf(image)).getTime()).toBeGreaterThan(task?.deadline_at.getTime());
});

describe('the hold of a task with reference videos', () => {
  const other = ['https://example.com/a.mp4'];
  const quote = async (apiKey: string, videos: string[], metadata = {}) => {
    const body = { model: 'studio-2.0', prompt: 'x', ratio: '16:9', videos, metadata };
    const headers = { authorization: `Bearer ${apiKey}` };
    return (await api.call('POST', '/v1/videos/quotes', body, headers)).json;
  };
  let longest: string;
  beforeAll(async () => {
    longest = (await quote(api.apiKey, other)).hold;
  });

  test('counts their longest length, whatever the caller states, uploads or spells', async () => {
    const spellings = [[video.id], [link(video)], [`${link(video)}?a#b`], other];
    for (const videos of [...spellings, [video.id, ...other], [video.id, link(video)]]) {
      for (const input_video_duration of [undefined, 0.001, 4, 15.2]) {
        const { hold } = await quote(api.apiKey, videos, { input_video_duration });
        expect([videos, input_video_duration, hold]).toEqual([
          videos,
          input_video_duration,
          longest,
        ]);
      }
    }
    const { hold, estimate } = await quote(api.apiKey, other, { input_video_duration: 16 });
    expect(Number(hold)).toBeGreaterThan(Number(longest));
    expect(estimate).toBe(hold);
  });

  test('counts the stated length for an account that is trusted, and a quote names the estimate to every account', async () => {
    const { accountId, apiKey } = await api.anAccount();
    const stated = { input_video_duration: 4 };
    await setTerms(api.db, accountId, { trustsLengths: true });
    const trusted = await quote(apiKey, other, stated);
    expect(Number(trusted.hold)).toBeLessThan(Number(longest));
    expect(trusted.estimate).toBe(trusted.hold);
    expect(await quote(api.apiKey, other, stated)).toMatchObject({
      ...{ hold: longest, estimate: trusted.hold },
    });
    const body = { ...textBody, ratio: '16:9', videos: other, metadata: stated };
    const headers = { authorization: `Bearer ${apiKey}` };
    const { json } = await api.call('POST', '/v1/videos/generations', body, headers);
    const task = await api.call('GET', `/v1/videos/generations/${json.id}`, undefined, headers);
    expect(task.json.billing.held).toBe(trusted.hold);
  });

  test('has no estimate if no length is stated, or if there are no videos', async () => {
    const { accountId, apiKey } = await api.anAccount();
    await setTerms(api.db, accountId, { trustsLengths: true });
    const silent = await quote(apiKey, other);
    expect(silent.hold).toBe(longest);
    expect(silent).not.toHaveProperty('estimate');
    const stated = { input_video_duration: 4 };
    expect(await quote(apiKey, [], stated)).not.toHaveProperty('estimate');
    expect((await quote(apiKey, [], stated)).hold).toBe((await quote(apiKey, [])).hold);
  });
});

test('a file of another account and a deleted, expired, incomplete or unknown file get the same 400', async () => {
  const { accountId, apiKey } = await api.anAccount();
  const foreign = await plantFile({ ...api, accountId }, Buffer.from('x'), picture);
  const deleted = await plantFile(api, Buffer.from('x'), picture);
  await api.call('DELETE', `/v1/files/${deleted.id}`);
  const awaited = await plantFile(api, Buffer.from('x'), { ...picture, state: 'awaited' });
  const past = await plantFile(api, Buffer.from('x'), {
    ...picture,
    expires_at: api.db.raw(`now() - interval '1 minute'`),
  });
  for (const sent of [
    foreign.id,
    link(foreign),
    deleted.id,
    link(deleted),
    awaited.id,
    past.id,
    'file_x',
  ]) {
    const { status, json } = await api.create({ images: [sent] });
    expect([sent, status, json.error]).toEqual([
      sent,
      400,
      {
        code: 'invalid_value',
        type: 'invalid_request_error',
        param: 'images[0]',
        message: 'images[0]: there is no such file; it may have been deleted. Upload it again.',
      },
    ]);
  }
  expect(apiKey).toBeTruthy();
});

test('an image file in `videos` is refused', async () => {
  const { status, json } = await api.create({ videos: [image.id] });
  expect([status, json.error.param]).toEqual([400, 'videos[0]']);
});

describe('without a PUBLIC_URL that a generator can reach', () => {
  let local: TestApi;
  beforeAll(async () => {
    local = await startApi({ publicUrl: 'http://localhost:8080' }, undefined, api.database);
  });
  afterAll(() => local?.close());
  const create = (body: object) =>
    local.call('POST', '/v1/videos/generations', { model: 'studio-2.0', prompt: 'x', ...body });

  test('a stored image is accepted, and a stored video is refused with the reason', async () => {
    const own = await plantFile(local, Buffer.from('x'), picture);
    const video4 = await plantFile(local, mp4(4), { duration_ms: 4_000 });
    expect((await create({ images: [own.id] })).status).toBe(200);
    const { status, json } = await create({ videos: [video4.id] });
    expect([status, json.error.param]).toEqual([400, 'videos[0]']);
    expect(json.error.message).toContain('PUBLIC_URL');
  });

  test('a stored video is accepted if the storage has presigned addresses', async () => {
    const video4 = await plantFile(local, mp4(4), { duration_ms: 4_000 });
    const spied = jest
      .spyOn(local.storage, 'presigned')
      .mockResolvedValue('https://s3.example.com/x');
    expect((await create({ videos: [video4.id] })).status).toBe(200);
    spied.mockRestore();
  });

  test('a stored video is refused if generators cannot reach the presigned addresses', async () => {
    const video4 = await plantFile(local, mp4(4), { duration_ms: 4_000 });
    const spied = jest.spyOn(local.storage, 'presigned').mockResolvedValue('http://minio:9000/x');
    expect((await create({ videos: [video4.id] })).status).toBe(400);
    spied.mockRestore();
  });

  test('a stored video is accepted if DANGEROUSLY_ALLOW_PROVIDER_HOSTS contains the host, as with `npm start`', async () => {
    const publicUrl = 'http://127.0.0.1:8080';
    const dev = await startApi(
      { publicUrl, dangerouslyAllowProviderHosts: ['127.0.0.1:8080'] },
      undefined,
      api.database,
    );
    try {
      const video4 = await plantFile(dev, mp4(4), { duration_ms: 4_000 });
      const sent = [`${publicUrl}/files/${video4.token}.mp4`];
      expect((await dev.create({ videos: sent })).status).toBe(200);
    } finally {
      await dev.close();
    }
  });
});
