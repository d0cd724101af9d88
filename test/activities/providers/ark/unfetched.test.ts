// Tests what a caller learns if the provider cannot fetch a file: the sentence names the field. The
// studio refuses such a create as the provider does.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createArk } from '../../../../activities/providers/ark/client';
import type { Provider, UpstreamFault } from '../../../../activities/providers/provider';
import { apiKey, type OpenStudio, openStudio } from '../../../studio/open-studio';
import { aJobInput, aPlan, aRequest } from '../../../support/builders';

let server: Server;
let host: string;
let studio: OpenStudio;
let generator: Provider;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    if (url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    else if (url === '/a.png') response.writeHead(200, { 'content-type': 'image/png' }).end('x');
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  studio = await openStudio({ allowHosts: [host, '127.0.0.1:1'] });
  generator = createArk({
    baseUrl: `${studio.url}/api/v3`,
    apiKey,
    timeoutMs: 10_000,
    honoursIdempotencyKey: true,
    hasList: true,
  });
});
afterAll(async () => {
  await studio?.close();
  server?.closeAllConnections();
  await new Promise((closed) => server?.close(closed));
});

const refusalOf = (media: object): Promise<UpstreamFault> => {
  const metadata = { passThrough: { studio: {} } };
  const plan = aPlan({ inputType: 'reference' });
  const input = aJobInput({ request: aRequest({ ...media, metadata }), plan });
  return generator.create(input, 'studio-2.0').then(
    () => Promise.reject(new Error('The create was accepted.')),
    (fault) => fault,
  );
};
const named = (field: string) =>
  `${field} was refused or could not be fetched by the provider: check that its address is public and answers with the file.`;

test.each([
  ['answers with 404', () => `http://${host}/nothing.png`],
  ['answers with a page', () => `http://${host}/page`],
  ['refuses the connection', () => 'http://127.0.0.1:1/a.png'],
  ['is not public', () => 'http://10.0.0.1/a.png'],
])('an address that %s is named by its field', async (_, url) => {
  expect(await refusalOf({ images: [`http://${host}/a.png`, url()] })).toMatchObject({
    kind: 'caller',
    sentence: named('images[1]'),
  });
});

test('videos and audios are named behind the images', async () => {
  const images = [`http://${host}/a.png`];
  const gone = [`http://${host}/gone`];
  expect((await refusalOf({ images, videos: gone })).sentence).toBe(named('videos[0]'));
  expect((await refusalOf({ images, audios: gone })).sentence).toBe(named('audios[0]'));
});
