// The public link of a file. It consists of a secret token and an ending that shows the file's
// type.

import { checkUrl } from '../outbound/address.rules';
import { endingOf } from './media-type.rules';

export function fileLink(publicUrl: string, token: string, contentType: string): string {
  return `${publicUrl}/files/${token}.${endingOf(contentType)}`;
}

/**
 * Returns the token if `address` leads to a file of this installation; null for any other URL. Every
 * spelling of the link counts: what a generator would reach is compared, not the text.
 */
export function tokenOfLink(publicUrl: string, address: string): string | null {
  if (!URL.canParse(address)) return null;
  const [own, url] = [new URL(publicUrl), new URL(address)];
  if (placeOf(own) !== placeOf(url)) return null;
  const path = decoded(url.pathname);
  const prefix = `${own.pathname.replace(/\/$/, '')}/files/`;
  if (!path.startsWith(prefix)) return null;
  return /^([\w-]{32,64})\.\w{1,8}$/.exec(path.slice(prefix.length))?.[1] ?? null;
}

/** Host and port. The default ports of http and https count as one, because servers redirect. */
function placeOf({ hostname, port }: URL): string {
  return `${hostname.replace(/\.$/, '')}:${port}`;
}

/** The path without escapes, as a server may read it; unchanged if an escape is malformed. */
function decoded(path: string): string {
  try {
    return new URL(decodeURIComponent(path).replaceAll('?', '%3F'), 'http://x').pathname;
  } catch {
    return path;
  }
}

/**
 * True if generators can reach this URL of the service or of its storage. It must be a public https
 * URL, or an operator must have allowed its host and port.
 */
export function isReachable(url: string, allowHosts: readonly string[]): boolean {
  return checkUrl(url, { schemes: ['https'], allowHosts, charsMax: 4096 }).fault === undefined;
}
