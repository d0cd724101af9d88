// The video of a task is uploaded to an address of its caller. The receiver is a real S3 server
// with a presigned PUT, or a server that refuses, hangs or recovers. The upload never delays the
// task or makes it fail.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { AwsClient } from 'aws4fetch';
import { taskSchema } from '../../src/contract/reply-schema';
import { freePorts } from '../../src/embedded/ports';
import { failingStorage } from '../support/failing-storage';
import { type S3Server, startS3Server } from '../support/s3-server';
import { type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const secret = 'X-Amz-Signature=planted-secret';
let answer: Answer;
const storage = failingStorage();

let s3: S3Server;
let receiver: Server;
let service: Service;
let address: string;
let calls = 0;
beforeAll(async () => {
  s3 = await startS3Server();
  receiver = createServer((request, response) => {
    calls += 1;
    answer(request, response);
  });
  const [port = 0] = await freePorts(1);
  await new Promise<void>((done) => receiver.listen(port, '127.0.0.1', done));
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  address = `http://${host}/video.mp4?${secret}`;
  service = await startService({
    allowHosts: [host, new URL(s3.settings.endpoint).host],
    storage: storage.around,
    storeWaitSeconds: 2,
    uploadLimits: { silenceMs: 1_000 },
  });
});
afterAll(async () => {
  await service?.close();
  receiver?.closeAllConnections();
  receiver?.close();
  await s3?.stop();
});
beforeEach(() => {
  calls = 0;
  storage.isAway = false;
});
afterEach(() => expect(service.failures).toEqual([]));

const task = (output_upload_url: string) =>
  service.create(textTask({}, { metadata: { output_upload_url } }));
const read = async (id: string) => (await service.call('GET', `/v1/videos/generations/${id}`)).json;
const uploaded = async (id: string, status: string) => {
  await until(
    `its upload is ${status}`,
    async () => (await read(id)).output_upload.status === status,
  );
  return taskSchema.parse(await read(id));
};
const rowOf = (id: string) => service.db('files').where({ task_id: id, role: 'video' }).first();
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
/** Makes the receiver accept uploads. Returns the list of their digests. */
const taking = () => {
  const took: Buffer[] = [];
  answer = async (request, response) => {
    took.push(digest(await buffer(request)));
    response.end();
  };
  return took;
};
const eventsOf = (id: string) =>
  service.events.filter(({ name, args }) => name === 'outputUpload' && args[0] === id);

test('the video is uploaded to a presigned PUT URL of an S3 bucket, and the service also keeps the video', async () => {
  const { endpoint, bucket, ...keys } = s3.settings;
  const client = new AwsClient({ ...keys, service: 's3', retries: 0 });
  const url = new URL(`${endpoint}/${bucket}/mine.mp4`);
  url.searchParams.set('X-Amz-Expires', '600');
  const { url: presigned } = await client.sign(url, { method: 'PUT', aws: { signQuery: true } });
  const { json } = await task(presigned);
  const final = await service.finished(json.id);
  expect(final).toMatchObject({ status: 'succeeded', billing: { charged: '5.009400' } });
  expect((await uploaded(json.id, 'succeeded')).output_upload).toEqual({ status: 'succeeded' });
  const object = await client.fetch(`${endpoint}/${bucket}/mine.mp4`);
  const row = await rowOf(json.id);
  expect(object.headers.get('content-type')).toBe('video/mp4');
  expect(digest(Buffer.from(await object.arrayBuffer()))).toEqual(row.sha256);
  expect(row.output_upload_url).toBeNull();
  expect((await fetch(final.video_url)).status).toBe(200);
  expect(JSON.stringify(await read(json.id))).not.toContain('X-Amz');
});

test('a task succeeds although the receiver of its upload answers 403, and the task shows this answer', async () => {
  answer = (request, response) => {
    request.resume();
    response.writeHead(403).end();
  };
  const { json } = await task(address);
  expect((await service.finished(json.id)).status).toBe('succeeded');
  expect((await uploaded(json.id, 'failed')).output_upload).toEqual({
    status: 'failed',
    error: 'The address answered 403.',
  });
  expect(calls).toBe(1);
  expect(JSON.stringify([service.events, await read(json.id)])).not.toContain('planted-secret');
});

test('an upload receiver that does not answer does not delay the task, and the upload is repeated until it succeeds', async () => {
  answer = () => undefined;
  const { json } = await task(address);
  const final = await service.finished(json.id);
  expect([final.status, final.output_upload]).toEqual(['succeeded', { status: 'pending' }]);
  await until('it was left once', async () => eventsOf(json.id).length > 0);
  expect(eventsOf(json.id)[0]?.args.slice(1)).toEqual([
    'again',
    'The address took or sent no byte for 1 s.',
    'no_answer',
  ]);
  const took = taking();
  expect((await uploaded(json.id, 'succeeded')).output_upload).toEqual({ status: 'succeeded' });
  expect(took).toEqual([(await rowOf(json.id)).sha256]);
});

test('an upload succeeds although the worker stops in the middle of the upload', async () => {
  let begun = false;
  answer = (request) => {
    request.once('data', () => {
      begun = true;
      request.pause();
    });
  };
  const { json } = await task(address);
  expect((await service.finished(json.id)).status).toBe('succeeded');
  await until('the upload has begun', async () => begun);
  await service.stopWorker();
  const took = taking();
  await service.startWorker();
  await uploaded(json.id, 'succeeded');
  expect(took).toEqual([(await rowOf(json.id)).sha256]);
});

test('a video is uploaded even if the service stores the video only after the end of its task', async () => {
  storage.isAway = true;
  const took = taking();
  const { json } = await task(address);
  const final = await service.finished(json.id);
  expect([final.status, final.output_upload]).toEqual(['succeeded', { status: 'pending' }]);
  expect([(await rowOf(json.id)).state, calls]).toEqual(['awaited', 0]);
  storage.isAway = false;
  await uploaded(json.id, 'succeeded');
  expect(took).toEqual([(await rowOf(json.id)).sha256]);
});

test('if a video is deleted before its upload, the upload fails and sends nothing', async () => {
  answer = () => undefined;
  const { json } = await task(address);
  await service.finished(json.id);
  await until('it was left once', async () => eventsOf(json.id).length > 0);
  await service.call('DELETE', `/v1/videos/generations/${json.id}/content`);
  const took = taking();
  const gone = await uploaded(json.id, 'failed');
  expect(gone.output_upload?.error).toBe('The video is not kept any more.');
  expect(gone.data[0]?.url_gone_reason).toBe('deleted');
  expect(took).toEqual([]);
});

test('a failed task uploads nothing and shows no upload', async () => {
  const took = taking();
  const metadata = { output_upload_url: address };
  const { json } = await service.create(textTask({ end: 'failed' }, { metadata }));
  const final = await service.finished(json.id);
  expect([final.status, 'output_upload' in final]).toEqual(['failed', false]);
  expect(took).toEqual([]);
});
