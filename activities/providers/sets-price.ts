// Recognises options of the caller's metadata that set what is priced. A provider ignores names that
// it does not know, but behind the address of a channel may be a gateway that knows them, and that
// would charge more than the task holds.

import { plainOf } from '../../src/contract/near-names';

/**
 * What a gateway could understand as another length, size, quality, number of videos, model, picture
 * or sound, or as an object of more options. Parts of a plain name; `^` and `$` are its ends.
 */
const priced = new RegExp(
  [
    ...['duration', 'seconds|second$', '^secs?$', 'numsec', 'frames?$', '^num.*frame'],
    ...['(?<!focal|wave|text|prompt)length'],
    ...['size', 'width', 'height', 'dimension', 'pixel', 'resolution', 'aspect', '^ratio'],
    ...['quality', 'definition', 'upscal', 'tier', 'priority', 'model', 'checkpoint', 'engine'],
    ...[
      '^(enable|is)?(hd|pro)(mode)?$',
      '^n$',
      '^num$',
      '(?<!dis|ac)counts?$',
      'number',
      'samples$',
    ],
    ...['outputs', 'batch', 'varia', 'clips', 'generations', 'copies'],
    ...['image', 'img', 'photo', 'video', 'picture', 'reference'],
    ...['audio', 'sound', 'voice', 'music', 'bgm', 'speech'],
    ...['metadata', 'param', 'options$', 'config', 'settings', 'overrides', 'kwargs', 'payload'],
    ...['^extra', '^input', '^target$', '^advanced$'],
  ].join('|'),
);

export function setsPrice(name: string, value: unknown): boolean {
  return priced.test(plainOf(name)) || setsPriceInside(value);
}

/** True if a name anywhere inside an object or a list sets what is priced. */
export function setsPriceInside(value: unknown): boolean {
  const isNested = typeof value === 'object' && value !== null;
  return isNested && Object.entries(value).some(([inner, one]) => setsPrice(inner, one));
}
