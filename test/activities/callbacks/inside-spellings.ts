// Draws addresses inside the network and writes them as an attacker would: in fewer parts, in other
// bases and digits, or inside an IPv6 address. About half of the addresses lead to this machine.

interface Spelling {
  /** As written in the URL. */
  readonly host: string;
  /** The expected result of a URL parser, which proves that the spelling means this address. */
  readonly means: string;
}

type Random = () => number;

export function insideSpellings(random: Random, count: number): readonly Spelling[] {
  return Array.from({ length: count }, () => {
    const bytes = random() < 0.5 ? [127, 0, 0, 1] : insideBytes(random);
    const kind = random();
    if (kind < 0.6) return { host: asIpv4(bytes, random), means: bytes.join('.') };
    return asIpv6(kind < 0.9 ? wrapped(bytes, random) : insideGroups(random), random);
  });
}

const between = (random: Random, low: number, high: number) =>
  low + Math.floor(random() * (high - low + 1));

const pick = <T>(random: Random, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)] as T;

const insideRanges: readonly (readonly [base: readonly number[], bits: number])[] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[224, 0, 0, 0], 3],
];

const numberOf = (bytes: readonly number[]) => bytes.reduce((sum, byte) => sum * 256 + byte, 0);

function insideBytes(random: Random): number[] {
  const [base, bits] = pick(random, insideRanges);
  const value = numberOf(base) + Math.floor(random() * 2 ** (32 - bits));
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
}

/** Writes one to four parts, each in a random base. The last part has all remaining bytes. */
function asIpv4(bytes: readonly number[], random: Random): string {
  const parts = between(random, 1, 4);
  const values = [...bytes.slice(0, parts - 1), numberOf(bytes.slice(parts - 1))];
  const written = values.map((value) => inSomeBase(value, random));
  const dot = pick(random, ['.', '.', '.', '。', '．', '｡']);
  const host = written.join(dot) + (random() < 0.2 ? '.' : '');
  return [...host].map((character) => disguised(character, random)).join('');
}

function inSomeBase(value: number, random: Random): string {
  const base = random();
  const zeros = '0'.repeat(random() < 0.2 ? between(random, 1, 6) : 0);
  if (base < 0.4) return String(value);
  if (base < 0.7) return `0${zeros}${value.toString(8)}`;
  return `${pick(random, ['0x', '0X'])}${zeros}${inSomeCase(value.toString(16), random)}`;
}

const inSomeCase = (text: string, random: Random) =>
  [...text].map((letter) => (random() < 0.5 ? letter : letter.toUpperCase())).join('');

/** One character in ten is full-width, circled or percent-encoded. */
function disguised(character: string, random: Random): string {
  const digit = character.charCodeAt(0) - 48;
  const isDigit = digit >= 0 && digit <= 9;
  const way = random();
  if (way < 0.03 && isDigit) return String.fromCharCode(0xff10 + digit);
  if (way < 0.06 && isDigit) return digit === 0 ? '⓪' : String.fromCharCode(0x2460 + digit - 1);
  if (way < 0.1) return encodeURIComponent(character).replace(/^[\w.]$/, percentEncoded);
  return character;
}

const percentEncoded = (character: string) => `%${character.charCodeAt(0).toString(16)}`;

type Groups = readonly number[];

/**
 * The groups of an IPv6 address that contains the IPv4 address: mapped, translated or tunnelled.
 */
function wrapped([a = 0, b = 0, c = 0, d = 0]: readonly number[], random: Random): Groups {
  const [high, low] = [a * 256 + b, c * 256 + d];
  return pick(random, [
    [0, 0, 0, 0, 0, 0, high, low],
    [0, 0, 0, 0, 0, 0xffff, high, low],
    [0, 0, 0, 0, 0xffff, 0, high, low],
    [0x64, 0xff9b, 0, 0, 0, 0, high, low],
    [0x64, 0xff9b, 1, 0, 0, 0, high, low],
    [0x2002, high, low, 0, 0, 0, 0, 0],
    [0xfe80, 0, 0, 0, 0, 0x5efe, high, low],
  ]);
}

/** An IPv6 address: loopback, unspecified, unique local, link-local, multicast or documentation. */
function insideGroups(random: Random): Groups {
  const rest = (first: number) => [first, ...Array.from({ length: 7 }, () => group(random))];
  return pick(random, [
    [0, 0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 0, 0],
    rest(between(random, 0xfc00, 0xfdff)),
    rest(between(random, 0xfe80, 0xfebf)),
    rest(between(random, 0xff00, 0xffff)),
    [0x2001, 0xdb8, ...rest(0).slice(2)],
  ]);
}

const group = (random: Random) => (random() < 0.4 ? 0 : between(random, 0, 0xffff));

/**
 * Writes the groups with random leading zeros and letter case, and sometimes with a dotted tail.
 */
function asIpv6(groups: Groups, random: Random): Spelling {
  const full = groups.map((value) =>
    value.toString(16).padStart(random() < 0.5 ? 1 : between(random, 1, 4), '0'),
  );
  const means = new URL(`https://[${groups.map((value) => value.toString(16)).join(':')}]/`);
  if (random() < 0.3) {
    const [high = 0, low = 0] = groups.slice(6);
    const tail = [high, low].flatMap((value) => [Math.floor(value / 256), value % 256]);
    full.splice(6, 2, tail.join('.'));
  }
  const text = random() < 0.5 ? full.join(':') : shortened(full);
  return { host: `[${inSomeCase(text, random)}]`, means: means.hostname };
}

/** Writes `::` for the first run of at least two zero groups. */
function shortened(full: readonly string[]): string {
  const zero = (part: string | undefined) => /^0+$/.test(part ?? '');
  const from = full.findIndex((part, n) => zero(part) && zero(full[n + 1]));
  if (from < 0) return full.join(':');
  let to = from;
  while (zero(full[to])) to += 1;
  return `${full.slice(0, from).join(':')}::${full.slice(to).join(':')}`;
}
