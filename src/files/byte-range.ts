// Reads the `Range` header of a request for bytes. Only a single range is supported. A header with
// several ranges, or without a valid byte range, is ignored, as the standard allows.

import type { ByteRange } from './storage/storage';

type AskedBytes = ByteRange | 'whole' | 'unsatisfiable';

const oneRange = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i;

export function bytesAsked(header: string | undefined, length: number): AskedBytes {
  const [, from = '', to = ''] = oneRange.exec(header ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  const last = length - 1;
  if (from === '') {
    const first = Math.max(0, length - Number(to));
    return Number(to) > 0 && length > 0 ? { first, last } : 'unsatisfiable';
  }
  if (to !== '' && Number(to) < Number(from)) return 'whole';
  if (Number(from) > last) return 'unsatisfiable';
  return { first: Number(from), last: to === '' ? last : Math.min(Number(to), last) };
}
