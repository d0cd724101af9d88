// Tests downloads with real sockets. The tests show which bytes arrive, what ends a download, and
// which addresses get no connection.

import { text } from 'node:stream/consumers';
import { type DownloadOptions, openDownload } from '../../src/outbound/download';
import { type Canaries, startCanaries } from '../support/canaries';
import { insideHosts } from '../support/hosts';
import { webServers } from '../support/web-servers';

let canaries: Canaries;
const serve = webServers();
beforeAll(async () => {
  canaries = await startCanaries();
});
afterAll(() => canaries?.close());

const download = (host: string, over: Partial<DownloadOptions> = {}) =>
  openDownload(`http://${host}/video`, { allowHosts: [host], ...over });

test('a download returns the status, the headers and the bytes', async () => {
  const host = await serve((_, response) => response.end('the bytes'));
  const { status, headers, body } = await download(host);
  expect([status, headers['content-length'], await text(body)]).toEqual([200, '9', 'the bytes']);
});

test('a download follows a redirect', async () => {
  const target = await serve((_, response) => response.end('there'));
  const host = await serve((_, response) =>
    response.writeHead(302, { location: `http://${target}/` }).end(),
  );
  const { body } = await download(host, { allowHosts: [host, target] });
  expect(await text(body)).toBe('there');
});

test('a download fails if its URL redirects to itself', async () => {
  const host = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
  await expect(download(host)).rejects.toMatchObject({ code: 'broken_reply' });
});

test.each(insideHosts)(
  'a download makes no connection to %s, neither directly nor after a redirect',
  async (inside) => {
    const before = canaries.connections();
    const url = `https://${inside}:${canaries.port}/`;
    const refused = { code: 'address_not_allowed' };
    await expect(openDownload(url, { allowHosts: [] })).rejects.toMatchObject(refused);
    const host = await serve((_, response) =>
      response.writeHead(307, { location: new URL(url).href }).end(),
    );
    await expect(download(host)).rejects.toMatchObject(refused);
    expect(canaries.connections()).toBe(before);
  },
);

test('a download fails if the connection is cut', async () => {
  const host = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  });
  await expect(text((await download(host)).body)).rejects.toThrow();
});

test('a download fails with a timeout if the server stops sending', async () => {
  const host = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half');
  });
  const { body } = await download(host, { limits: { idleMs: 50 } });
  await expect(text(body)).rejects.toMatchObject({ code: 'timeout' });
});

test('a download loses no bytes if its reader pauses longer than the time limit', async () => {
  const host = await serve((_, response) => response.end('x'.repeat(10_000_000)));
  const { body } = await download(host, { limits: { idleMs: 1_500 } });
  await new Promise((later) => setTimeout(later, 4_000));
  expect((await text(body)).length).toBe(10_000_000);
});

test('an abort ends a download with the reason of the abort, before and after the reply', async () => {
  const silent = await serve(() => undefined);
  const early = new AbortController();
  const unanswered = download(silent, { signal: early.signal });
  early.abort(new Error('stopping'));
  await expect(unanswered).rejects.toThrow('stopping');
  const host = await serve((_, response) => response.write('half'));
  const stopping = new AbortController();
  const { body } = await download(host, { signal: stopping.signal });
  const read = text(body);
  stopping.abort(new Error('stopping'));
  await expect(read).rejects.toThrow('stopping');
});

test('a time limit that ends during a download ends it with an error', async () => {
  const host = await serve((_, response) => response.write('half'));
  const { body } = await download(host, { signal: AbortSignal.timeout(2_000) });
  await expect(text(body)).rejects.toThrow(/timeout/);
});

test('a download fails with a timeout if the server does not answer', async () => {
  const host = await serve(() => undefined);
  const late = download(host, { limits: { timeoutMs: 50 } });
  await expect(late).rejects.toMatchObject({ code: 'timeout' });
});
