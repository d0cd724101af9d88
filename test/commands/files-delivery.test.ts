// Tests the warning about the delivery of files, which the API logs at its start.

import { whyUnreachable } from '../../src/commands/files-delivery';
import { readConfig } from '../../src/config/config';

const warning = (settings: Readonly<Record<string, string>>) =>
  whyUnreachable(readConfig('admin', settings));

const bucket = (endpoint: string) => ({
  FILES_DELIVERY: 'redirect',
  S3_BUCKET: 'videos',
  S3_ENDPOINT: endpoint,
  S3_ACCESS_KEY_ID: 'a',
  S3_SECRET_ACCESS_KEY: 'b',
});

test.each([
  ['redirect without a bucket', { FILES_DELIVERY: 'redirect' }, /S3_BUCKET is not set/],
  [
    'redirect to an internal address',
    bucket('http://127.0.0.1:9000'),
    /http:\/\/127\.0\.0\.1:9000 is no public/,
  ],
  ['redirect to plain http', bucket('http://s3.example.com'), /no public https address/],
])('the API warns about the delivery of files: %s', (_, settings, said) => {
  expect(warning(settings)).toMatch(said);
});

test.each([
  ['the API sends the bytes', { ...bucket('http://127.0.0.1:9000'), FILES_DELIVERY: 'proxy' }],
  ['redirect to a public address', bucket('https://s3.eu-central-1.amazonaws.com')],
  [
    'redirect to an allowed address',
    { ...bucket('http://127.0.0.1:9000'), DANGEROUSLY_ALLOW_PROVIDER_HOSTS: '127.0.0.1:9000' },
  ],
])('the API does not warn about the delivery of files: %s', (_, settings) => {
  expect(warning(settings)).toBeNull();
});
