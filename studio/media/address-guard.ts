/*
 * Callers choose the URLs of media, so the studio sends requests to public addresses only. The
 * parsed URL is checked first, then every address of the host name, then the remote address of the
 * socket. For development, exact `host:port` pairs can be exempted.
 */

import { lookup as resolveName } from 'node:dns';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { BlockList, isIP } from 'node:net';

export class AddressRefused extends Error {}

const insideIPv4 = new BlockList();
for (const range of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24',
  '198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
].flatMap((line) => line.split(' '))) {
  const [net, bits] = range.split('/');
  insideIPv4.addSubnet(net!, Number(bits), 'ipv4');
}

/** All public IPv6 addresses are in this block. Some ranges inside the block are not public. */
const publicIPv6 = new BlockList();
publicIPv6.addSubnet('2000::', 3, 'ipv6');
const insideIPv6 = new BlockList();
for (const range of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48']) {
  const [net, bits] = range.split('/');
  insideIPv6.addSubnet(net!, Number(bits), 'ipv6');
}

const INSIDE_SUFFIXES = /(^|\.)(localhost|local|internal|home\.arpa|lan|onion|test|invalid)$/;

function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !insideIPv4.check(address, 'ipv4');
  if (family !== 6) return false;
  return publicIPv6.check(address, 'ipv6') && !insideIPv6.check(address, 'ipv6');
}

/** True if this URL may be requested. The host name is not resolved here. */
export function isAllowedUrl(text: string, allowHosts: readonly string[]): boolean {
  // No valid URL contains these characters, but the parser would silently drop or convert them.
  if (text.length > 2048 || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return false;
  return isExempt(url, allowHosts) || isPublicHost(url.hostname);
}

function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  const labels = host.split('.');
  const isName =
    labels.length > 1 && labels.every((label) => label.length > 0 && label.length < 64);
  return isName && host.length <= 253 && !INSIDE_SUFFIXES.test(host.toLowerCase());
}

function isExempt(url: URL, allowHosts: readonly string[]): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allowHosts.includes(`${url.hostname}:${port}`);
}

/**
 * Resolves a host name, and fails if any of its addresses is not public. A DNS rebinding attack
 * mixes public and internal addresses.
 */
const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, '', 0);
    if (found.length === 0 || !found.every((entry) => isPublicAddress(entry.address))) {
      return callback(new AddressRefused('address not allowed'), '', 0);
    }
    if (options.all) return callback(null, found);
    callback(null, found[0]!.address, found[0]!.family);
  });
};

interface GuardedCall {
  url: string;
  allowHosts: readonly string[];
  timeoutMs: number;
}

/**
 * Sends one GET request, without redirects, proxies or keep-alive. The caller must read or destroy
 * the reply.
 */
export function guardedCall(call: GuardedCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (!isAllowedUrl(call.url, call.allowHosts)) {
      return reject(new AddressRefused('address not allowed'));
    }
    const url = new URL(call.url);
    const exempt = isExempt(url, call.allowHosts);
    const options: RequestOptions = {
      agent: false,
      signal: AbortSignal.timeout(call.timeoutMs),
      ...(exempt ? {} : { lookup: guardedLookup }),
    };
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
    request.on('error', reject);
    request.on('response', resolve);
    request.on('socket', (socket) => {
      // Checks the remote address before anything is written to the socket.
      socket.once('connect', () => {
        const address = socket.remoteAddress ?? '';
        if (!exempt && !isPublicAddress(address)) socket.destroy(new AddressRefused('refused'));
      });
    });
    request.end();
  });
}
