// Which addresses a URL of a caller's may lead to. One pure classification, used when a task is
// submitted and again on the address that a socket is about to dial. It works on the parsed form
// and never on the text: the URL parser has by then folded `127.1`, `0x7f000001` and `①②⑦.⓪.⓪.①`
// into 127.0.0.1.

interface UrlRules {
  readonly schemes: readonly ('https' | 'http')[];
  /** Exact `host:port` pairs that scheme and address rules do not apply to. */
  readonly allowHosts: readonly string[];
  readonly charsMax: number;
}

type CheckedUrl =
  | { readonly url: URL; readonly fault?: undefined }
  | { readonly url?: undefined; readonly fault: string };

export function checkUrl(text: string, { schemes, allowHosts, charsMax }: UrlRules): CheckedUrl {
  if (text.length > charsMax) {
    return { fault: `must have at most ${charsMax} characters; it has ${text.length}.` };
  }
  if (hasSpaceOrControl(text))
    return { fault: 'must be a URL without spaces or control characters.' };
  // To this parser a slash, to others a part of a user name: the host must be the same to whoever
  // reads the URL.
  if (text.includes('\\')) return { fault: 'must be a URL without backslashes.' };
  if (!URL.canParse(text)) return { fault: 'must be an absolute URL.' };
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https' && scheme !== 'http') {
    return { fault: `must be an ${schemes.join(' or ')} URL; got "${scheme.slice(0, 20)}".` };
  }
  if (url.username || url.password) return { fault: 'must not carry a user name or password.' };
  if (isAllowed(url, allowHosts)) return { url };
  if (!(schemes as readonly string[]).includes(scheme)) {
    return { fault: `must be an ${schemes.join(' or ')} URL; got "${scheme}".` };
  }
  if (!isPublicHost(url.hostname)) {
    return { fault: 'its host is not allowed: send a publicly reachable address.' };
  }
  return { url };
}

/** Whether this exact host and port were opened on purpose. */
export function isAllowed(url: URL, allowHosts: readonly string[]): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return allowHosts.includes(`${url.hostname}:${port}`);
}

const insideNames = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan|onion|test|invalid)$/;

/** A host as a parsed URL writes it: a name, an IPv4 address, or an IPv6 address in brackets. */
function isPublicHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1));
  if (parseIpv4(hostname)) return isPublicAddress(hostname);
  const name = hostname.toLowerCase();
  if (!name.includes('.') || name.endsWith('.') || insideNames.test(name)) return false;
  // A label that is all digits at the end is an address somebody's resolver may read as one.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)) return false;
  return name.length <= 253 && name.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

/**
 * An address as a resolver answers it or a socket reports it. Whatever cannot be read is not
 * public.
 */
export function isPublicAddress(address: string): boolean {
  const v4 = parseIpv4(address);
  if (v4) return !specialIpv4.some((range) => contains(range, v4));
  const v6 = parseIpv6(address.split('%')[0] ?? '');
  if (!v6) return false;
  return contains(globalIpv6, v6) && !specialIpv6.some((range) => contains(range, v6));
}

interface Range {
  readonly bytes: readonly number[];
  readonly bits: number;
}

// The special-purpose registries. Of IPv6 only what is handed out at all (2000::/3) can be public,
// so mapped, compatible and translated forms, unique local and link-local ones need no rows of
// their own.
const specialIpv4 = [
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
].map(rangeOf);

const globalIpv6 = rangeOf('2000::/3');
const specialIpv6 = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '2620:4f:8000::/48',
].map(rangeOf);

function rangeOf(text: string): Range {
  const [address = '', bits] = text.split('/');
  return { bytes: parseIpv4(address) ?? parseIpv6(address) ?? [], bits: Number(bits) };
}

function contains({ bytes, bits }: Range, address: readonly number[]): boolean {
  if (bytes.length !== address.length) return false;
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 0xff : (0xff << (8 - (bits - bit))) & 0xff;
    const index = bit / 8;
    if (((bytes[index] ?? 0) & mask) !== ((address[index] ?? 0) & mask)) return false;
  }
  return true;
}

/**
 * Four plain decimal parts and nothing else: the only form a parsed URL, a resolver or a socket
 * gives.
 */
function parseIpv4(text: string): number[] | null {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return null;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

function parseIpv6(text: string): number[] | null {
  if (!/^[0-9a-f:.]+$/i.test(text)) return null;
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half) => (half === '' ? [] : groupsOf(half)));
  if (!head || (halves.length === 2 && !tail)) return null;
  const missing = 16 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 2) return null;
  return [...head, ...new Array<number>(missing).fill(0), ...(tail ?? [])];
}

function groupsOf(half: string): number[] | null {
  const bytes: number[] = [];
  const groups = half.split(':');
  for (const [index, group] of groups.entries()) {
    const v4 = index === groups.length - 1 ? parseIpv4(group) : null;
    if (v4) bytes.push(...v4);
    else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    } else return null;
  }
  return bytes;
}

function hasSpaceOrControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f) return true;
  }
  return false;
}
