/* Reads the media of a create. Frames cannot be sent together with references. */

import { isObject } from '../../http';
import type { GenerationRequest } from '../../jobs/job';
import { invalid } from '../../protocol-error';
import type { Body } from '../fields';
import { given, isHttpUrl } from '../fields';
import type { Family, MediaUse } from './families';

type Media = Pick<GenerationRequest, 'images' | 'videos' | 'audios'>;

interface Sent {
  use: MediaUse;
  url: string;
}

export function parseMedia(input: Body, family: Family): Media {
  const sent = [...fieldsOf(input, family), ...listOf(input, family)];
  if (sent.length === 0 && !family.takesText) {
    throw invalid('input', 'the model needs an image or a video');
  }
  const isFrame = ({ use }: Sent) => use === 'first_frame' || use === 'last_frame';
  if (sent.some(isFrame) && sent.some(({ use }) => use === 'image' || use === 'video')) {
    throw invalid('input.media', 'frames and references cannot be mixed');
  }
  const urls = (use: MediaUse) => sent.filter((one) => one.use === use).map(({ url }) => url);
  const [first, second] = urls('first_frame');
  const last = second ?? urls('last_frame')[0];
  return {
    images: [
      ...(first === undefined ? [] : [{ url: first, role: 'first_frame' as const }]),
      ...(last === undefined ? [] : [{ url: last, role: 'last_frame' as const }]),
      ...urls('image').map((url) => ({ url, role: 'reference_image' as const })),
    ],
    videos: urls('video'),
    audios: urls('audio'),
  };
}

function fieldsOf(input: Body, { fields = {} }: Family): Sent[] {
  return Object.entries(fields).flatMap(([name, { use, max }]) => {
    const value = given(input, name);
    if (value === undefined) return [];
    const urls: unknown[] = Array.isArray(value) ? value : [value];
    if (urls.length > max) throw invalid(`input.${name}`, `it has more than ${max} addresses`);
    return urls.map((url) => {
      const checked = address(url, use, `input.${name}`);
      // A list of references may have videos too. They are known by the ending of their address.
      return {
        use: use === 'image' && /\.(mp4|mov)([?#]|$)/i.test(checked) ? 'video' : use,
        url: checked,
      };
    });
  });
}

function listOf(input: Body, { media: known = {} }: Family): Sent[] {
  const list = given(input, 'media') ?? [];
  if (!Array.isArray(list)) throw invalid('input.media', 'it must be a list');
  const counts: Record<string, number> = {};
  return list.map((element: unknown, at) => {
    const path = `input.media[${at}]`;
    const type = isObject(element) ? String(element.type) : '';
    const medium = Object.hasOwn(known, type) ? known[type] : undefined;
    if (!isObject(element) || !medium) {
      throw invalid(`${path}.type`, `it must be one of ${Object.keys(known).join(', ') || 'none'}`);
    }
    counts[type] = (counts[type] ?? 0) + 1;
    if (counts[type] > medium.max) throw invalid('input.media', `more than ${medium.max} ${type}`);
    return { use: medium.use, url: address(element.url, medium.use, `${path}.url`) };
  });
}

/** Images may also be sent inline. */
function address(url: unknown, use: MediaUse, path: string): string {
  const mayBeInline = use !== 'video' && use !== 'audio';
  const isInline = typeof url === 'string' && /^data:image\/[\w.+-]+;base64,/.test(url);
  if (typeof url === 'string' && (isHttpUrl(url) || (mayBeInline && isInline))) return url;
  throw invalid(path, 'it must be an http(s) address');
}
