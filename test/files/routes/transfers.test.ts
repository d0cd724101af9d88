// Tests the limits of downloads: at once for one address and for one account, and in bytes.

import { EventEmitter } from 'node:events';
import { createTransfers } from '../../../src/files/transfers.http';
import type { ApiCall } from '../../../src/gateway/context';
import type { AtOnce } from '../../../src/gateway/limit-table';

let ms = 0;

/** A download from this address. `end` ends it after this many bytes. */
function aDownload(ip: string) {
  const [res, socket] = [new EventEmitter(), { bytesWritten: 0 }];
  const ctx = { ip, res, req: { socket, complete: true } } as unknown as ApiCall;
  const end = (bytes = 0) => {
    socket.bytesWritten += bytes;
    res.emit('close');
  };
  return { ctx, end };
}

const many = { own: 100, all: 1_000 };
const two = { own: 2, all: 1_000 };
const start = (
  limits: { readonly downloads?: AtOnce; readonly downloadsOfAddress?: AtOnce },
  bytes?: { readonly bytesPerSecond: number; readonly bytesAtOnce: number },
) => createTransfers(() => ms, { downloads: many, downloadsOfAddress: many, ...limits }, bytes);
const refused = expect.objectContaining({
  headers: {
    'retry-after': expect.any(String),
    'ratelimit-limit': expect.any(String),
    'ratelimit-remaining': '0',
    'ratelimit-reset': expect.any(String),
  },
  refusal: expect.objectContaining({ code: 'rate_limited' }),
});

test('an address has a limited number of downloads at once, and another address has its own', () => {
  const transfers = start({ downloadsOfAddress: two });
  const downloads = [aDownload('192.0.2.1'), aDownload('192.0.2.1')];
  for (const [n, { ctx }] of downloads.entries()) transfers.begin(ctx, `acct_${n}`);
  expect(() => transfers.begin(aDownload('192.0.2.1').ctx, 'acct_3')).toThrow(refused as never);
  transfers.begin(aDownload('192.0.2.2').ctx, 'acct_3');
  downloads[0]?.end();
  transfers.begin(aDownload('192.0.2.1').ctx, 'acct_3');
});

test('the files of an account have a limited number of downloads at once', () => {
  const transfers = start({ downloads: two });
  for (const ip of ['192.0.2.1', '192.0.2.2']) transfers.begin(aDownload(ip).ctx, 'acct_1');
  expect(() => transfers.begin(aDownload('192.0.2.3').ctx, 'acct_1')).toThrow(refused as never);
  transfers.begin(aDownload('192.0.2.3').ctx, 'acct_2');
});

test('an account whose files were read for too many bytes waits until the average is low enough', () => {
  const transfers = start({}, { bytesAtOnce: 1_000, bytesPerSecond: 100 });
  const download = aDownload('192.0.2.1');
  transfers.begin(download.ctx, 'acct_1');
  download.end(1_500);
  expect(() => transfers.begin(aDownload('192.0.2.1').ctx, 'acct_1')).toThrow(refused as never);
  transfers.begin(aDownload('192.0.2.1').ctx, 'acct_2');
  ms += 5_000;
  transfers.begin(aDownload('192.0.2.1').ctx, 'acct_1');
});
