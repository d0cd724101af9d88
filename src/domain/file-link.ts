// The public link of a file. It consists of a secret token and an ending that shows the file's
// type.

import { checkUrl } from './address';
import { endingOf } from './media-type';

export function fileLink(publicUrl: string, token: string, contentType: string): string {
  return `${publicUrl}/files/${token}.${endingOf(contentType)}`;
}

/** Returns the token if `address` is a file link of this installation; null for any other URL. */
export function tokenOfLink(publicUrl: string, address: string): string | null {
  const prefix = `${publicUrl}/files/`;
  if (!address.startsWith(prefix)) return null;
  return /^([\w-]{32,64})\.\w{1,8}$/.exec(address.slice(prefix.length))?.[1] ?? null;
}

/**
 * True if generators can reach links of this installation. `publicUrl` must be a public https URL,
 * or an operator must have allowed its host and port.
 */
export function isReachable(publicUrl: string, allowHosts: readonly string[]): boolean {
  return (
    checkUrl(publicUrl, { schemes: ['https'], allowHosts, charsMax: 2048 }).fault === undefined
  );
}
