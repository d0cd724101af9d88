// Checks that the AWS SDK can read the objects that the service writes to a bucket.

import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { createS3 } from '../../src/files/storage/s3';
import { type S3Server, startS3Server } from '../support/s3-server';
import { objectAsRead, writeObjects } from './written-objects';

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
}, 300_000);
afterAll(() => server?.stop());

test('the AWS SDK lists and reads the objects that the service has written', async () => {
  const keys = await writeObjects(createS3(server.settings, server.folder));
  const { endpoint, region, bucket: Bucket, pathStyle, ...credentials } = server.settings;
  const s3 = new S3Client({ endpoint, region, forcePathStyle: pathStyle, credentials });
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'results/' }));
  expect(Contents.map(({ Key }) => Key)).toEqual(keys);
  for (const { Key, Size } of Contents) {
    const whole = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const part = await s3.send(new GetObjectCommand({ Bucket, Key, Range: 'bytes=2-4' }));
    expect({
      length: Size,
      type: whole.ContentType,
      body: await whole.Body?.transformToString(),
      range: await part.Body?.transformToString(),
    }).toEqual(objectAsRead);
  }
  s3.destroy();
});
