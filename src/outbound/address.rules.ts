// Decides to which hosts and IP addresses a caller's URL may lead. The URL is checked when a task
// is created. Before a socket connects, its IP address is checked too. Hosts are read from the
// parsed URL, not from the text: the parser turns `127.1`, `0x7f000001` and `①②⑦.⓪.⓪.①` into
// 127.0.0.1.

import { BlockList, isIPv4, isIPv6 } from 'node:net';

export interface UrlRules {
  readonly schemes: readonly ('https' | 'http')[];
  /** Exact `host:port` pairs that are exempt from the scheme and address rules. */
  readonly allowHosts: readonly string[];
  readonly charsMax: number;
}

type CheckedUrl =
  | { readonly url: URL; readonly fault?: undefined }
  | {
      readonly url?: undefined;
      /** All faults, in one text. */
      readonly fault: string;
      /** True if an operator would have to allow the host, because it is not public. */
      readonly isInside?: boolean;
    };

export function checkUrl(text: string, { schemes, allowHosts, charsMax }: UrlRules): CheckedUrl {
  if (text.length > charsMax) {
    return { fault: `must have at most ${charsMax} characters; it has ${text.length}.` };
  }
  if (hasSpaceOrControl(text))
    return { fault: 'must be a URL without spaces or control characters.' };
  // Some parsers read a backslash as a slash, others as part of a user name. They would find
  // different hosts in the same URL.
  if (text.includes('\\')) return { fault: 'must be a URL without backslashes.' };
  if (!URL.canParse(text)) return { fault: 'must be an absolute URL.' };
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https' && scheme !== 'http') {
    return { fault: wrongScheme(schemes, url) };
  }
  const isExempt = isAllowed(url, allowHosts);
  const isInside = !isExempt && !isPublicHost(url.hostname);
  const faults: string[] = [];
  if (url.username || url.password) faults.push('must not carry a user name or password.');
  if (!isExempt && !(schemes as readonly string[]).includes(scheme)) {
    faults.push(wrongScheme(schemes, url));
  }
  if (isInside) faults.push('its host is not allowed: send a publicly reachable address.');
  if (faults.length === 0) return { url };
  const [first = '', ...others] = faults;
  const sentences = [first, ...others.map((text) => text[0]!.toUpperCase() + text.slice(1))];
  return { fault: sentences.join(' '), isInside };
}

function wrongScheme(schemes: UrlRules['schemes'], { protocol }: URL): string {
  const wanted = schemes.map((scheme) => `${scheme}://`).join(' or ');
  return `must begin with ${wanted}, not with "${protocol.slice(0, 20)}".`;
}

/** True if the operator allowed this exact host and port. */
export function isAllowed(url: URL, allowHosts: readonly string[]): boolean {
  return allowHosts.includes(hostPortOf(url));
}

/** The host and the port of an address, as lists of allowed hosts name them. */
export function hostPortOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** Names no host, so that a caller's text never becomes part of a command that somebody copies. */
export const howToAllow =
  'An operator can allow it, http included, with DANGEROUSLY_ALLOW_HOSTS, ' +
  'or under npm start with the option --receiver host:port.';

const insideNames =
  /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa|lan|onion|test|invalid)$/;

/**
 * `hostname` is the host of a parsed URL: a name, an IPv4 address, or an IPv6 address in brackets.
 */
function isPublicHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1));
  if (isIPv4(hostname)) return isPublicAddress(hostname);
  const name = hostname.toLowerCase();
  if (!name.includes('.') || name.endsWith('.') || insideNames.test(name)) return false;
  // If the last label of a name is a number, some resolvers read the name as an IPv4 address.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)) return false;
  return name.length <= 253 && name.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

/** `address` comes from a resolver or a socket. Text that is no IP address counts as not public. */
export function isPublicAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  if (isIPv4(plain)) return !specialIpv4.check(plain);
  return isIPv6(plain) && globalIpv6.check(plain, 'ipv6') && !specialIpv6.check(plain, 'ipv6');
}

// The lists follow IANA's registries of special-purpose addresses. All public IPv6 addresses are in
// 2000::/3. Mapped, translated, unique local and link-local addresses are outside of this block and
// need no entries.
const specialIpv4 = subnets('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

const globalIpv6 = subnets('ipv6', ['2000::/3']);
const specialIpv6 = subnets('ipv6', [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '2620:4f:8000::/48',
]);

function subnets(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

function hasSpaceOrControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f) return true;
  }
  return false;
}
