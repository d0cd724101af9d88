// The warning at the start of the API about links to files that callers cannot follow.

import { whyUnreachable } from '../../src/commands/public-url';
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
  ['no bucket', { FILES_DELIVERY: 'redirect' }, /S3_BUCKET is not set/],
  ['an address inside', bucket('http://127.0.0.1:9000'), /http:\/\/127\.0\.0\.1:9000 is no public/],
  ['plain http', bucket('http://s3.example.com'), /no public https address/],
])('links lead nowhere: %s', (_, settings, said) => {
  expect(warning(settings)).toMatch(said);
});

test.each([
  ['the API sends the bytes', { ...bucket('http://127.0.0.1:9000'), FILES_DELIVERY: 'proxy' }],
  ['a public address', bucket('https://s3.eu-central-1.amazonaws.com')],
  [
    'an allowed address',
    { ...bucket('http://127.0.0.1:9000'), DANGEROUSLY_ALLOW_HOSTS: '127.0.0.1:9000' },
  ],
])('links lead to files: %s', (_, settings) => {
  expect(warning(settings)).toBeNull();
});
