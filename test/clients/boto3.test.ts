// Checks that boto3 can read the objects that the service writes to a bucket. Without Python this
// test is skipped.

import { join } from 'node:path';
import { createS3 } from '../../src/files/storage/s3';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';
import { type S3Server, startS3Server } from '../support/s3-server';
import { objectAsRead, writeObjects } from './written-objects';

// Long enough to download the package on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');
let server: S3Server;
beforeAll(async () => {
  if (python) server = await startS3Server();
});
afterAll(() => server?.stop());

(python ? test : test.skip)(
  'boto3 lists and reads the objects that the service has written',
  async () => {
    const keys = await writeObjects(createS3(server.settings, server.folder));
    const { endpoint, bucket, accessKeyId, secretAccessKey } = server.settings;
    const program = runProgram('python3', [join(__dirname, 'boto3_reader.py'), endpoint, bucket], {
      env: {
        PYTHONPATH: await pythonPackage('boto3', '1.44.5'),
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
      },
    });
    if ((await program.code) !== 0) throw new Error(program.err());
    expect(JSON.parse(program.out())).toEqual(
      Object.fromEntries(keys.map((key) => [key, objectAsRead])),
    );
  },
);
