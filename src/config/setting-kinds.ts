// The kinds of values that a setting can have. Each kind parses a text and has a description of the
// accepted values. Error messages use this description, so all settings report faults in the same
// form.

import { z } from 'zod';

export function secret() {
  return { secret: true };
}

function read<T>(wanted: string, parse: (text: string) => T | undefined) {
  return z.string().transform((given, context) => {
    const value = parse(given.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: wanted });
    return z.NEVER;
  });
}

export function orNone<T extends z.ZodType>(kind: T) {
  return kind.nullable().default(null);
}

export function text(lengthMin = 1) {
  const wanted = lengthMin === 1 ? 'some text' : `at least ${lengthMin} characters`;
  return read(wanted, (given) => (given.length >= lengthMin ? given : undefined));
}

export function whole(min: number, max: number) {
  return read(`a whole number from ${min} to ${max}`, (given) => {
    const value = /^-?\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

export function zeroOrWhole(min: number, max: number) {
  return read(`0 or a whole number from ${min} to ${max}`, (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    return value === 0 || (value >= min && value <= max) ? value : undefined;
  });
}

export function timeZone() {
  return read('a time zone such as Europe/Berlin', (given) => {
    try {
      new Intl.DateTimeFormat('en', { timeZone: given });
      return given;
    } catch {
      return undefined;
    }
  });
}

export function port() {
  return whole(0, 65_535);
}

export function flag() {
  const words: Readonly<Record<string, boolean>> = {
    true: true,
    '1': true,
    false: false,
    '0': false,
  };
  return read('true or false', (given) => words[given.toLowerCase()]);
}

export function choice<const T extends string>(words: readonly T[]) {
  return read(`one of ${words.join(', ')}`, (given) => words.find((word) => word === given));
}

export function code() {
  return read('three capital letters', (given) => (/^[A-Z]{3}$/.test(given) ? given : undefined));
}

export function url(...schemes: readonly string[]) {
  return read(`an address beginning with ${schemes.join(':// or ')}://`, (given) => {
    const parsed = URL.canParse(given) ? new URL(given) : undefined;
    return parsed && schemes.includes(parsed.protocol.slice(0, -1)) ? given : undefined;
  });
}

export function webUrl() {
  return read('an address beginning with http:// or https://', (given) =>
    /^https?:\/\/[^/]/.test(given) && URL.canParse(given) ? given.replace(/\/+$/, '') : undefined,
  );
}

export function origin() {
  return read('an http(s) origin such as https://video.example.com, without a path', (given) => {
    const parsed = /^https?:/.test(given) && URL.canParse(given) ? new URL(given) : undefined;
    return parsed && given.replace(/\/$/, '').toLowerCase() === parsed.origin
      ? parsed.origin
      : undefined;
  });
}

export function hostPort() {
  return read('host:port', (given) => {
    const found = /^(\[[\da-fA-F:.]+\]|[^\s:/@]+):(\d{1,5})$/.exec(given);
    const number = Number(found?.[2]);
    // Addresses are compared with the host of a parsed URL, which is in lower case.
    return number >= 1 && number <= 65_535 ? given.toLowerCase() : undefined;
  });
}

/** Several values of a kind, separated by commas. */
export function list<T>(kind: z.ZodType<T, string>) {
  return z.string().transform((given, context) => {
    const items = given.split(',').map((item) => item.trim());
    return items.flatMap((item): T[] => {
      if (item === '') return [];
      const checked = kind.safeParse(item);
      if (checked.success) return [checked.data];
      const wanted = checked.error.issues[0]?.message ?? '';
      context.addIssue({
        code: 'custom',
        message: `${wanted}, not ${JSON.stringify(item)}; several are separated by commas`,
      });
      return [];
    });
  });
}

/** Encryption keys as `id:base64`, separated by commas. No error message contains a key. */
export function encryptionKeys() {
  const wanted = 'id:key pairs, separated by commas; each key is 32 bytes in base64, each id once';
  return read(wanted, (given) => {
    const keys = given.split(',').map((item) => {
      const [, id = '', text = ''] = /^\s*([\w.-]{1,64}):([\w+/=-]+)\s*$/.exec(item) ?? [];
      return { id, key: Buffer.from(text, 'base64') };
    });
    const isWhole = keys.every(({ id, key }) => id !== '' && key.length === 32);
    return isWhole && new Set(keys.map(({ id }) => id)).size === keys.length ? keys : undefined;
  });
}
