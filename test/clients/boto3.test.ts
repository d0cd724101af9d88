// boto3 reads the bucket in which our files are. Without Python it is
// left out with a message.

import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createS3 } from '../../src/storage/s3';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';
import { type S3Server, startS3Server } from '../support/s3-server';

// Long enough to download the package on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');
let server: S3Server;
beforeAll(async () => {
  if (python) server = await startS3Server();
});
afterAll(() => server?.stop());

(python ? test : test.skip)('boto3 lists and reads what we wrote', async () => {
  const storage = createS3(server.settings, server.folder);
  for (const length of [10, null]) {
    const key = `results/task_${length}/video`;
    const bytes = Readable.from([Buffer.from('0123456789')]);
    await storage.write(key, bytes, { contentType: 'video/mp4', length });
  }
  const { endpoint, bucket, accessKeyId, secretAccessKey } = server.settings;
  const program = runProgram('python3', [join(__dirname, 'boto3_reader.py'), endpoint, bucket], {
    env: {
      PYTHONPATH: await pythonPackage('boto3', '1.44.5'),
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
  });
  if ((await program.code) !== 0) throw new Error(program.err());
  const read = { length: 10, type: 'video/mp4', body: '0123456789', range: '234' };
  expect(JSON.parse(program.out())).toEqual({
    'results/task_10/video': read,
    'results/task_null/video': read,
  });
});
