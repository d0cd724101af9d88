// Runs the common storage tests with a bucket of a real S3 server.

import { createS3 } from '../../../src/files/storage/s3';
import { type S3Server, startS3Server } from '../../support/s3-server';
import { testStorage } from './conformance';

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server?.stop());

testStorage(async () => createS3(server.settings, server.folder));
