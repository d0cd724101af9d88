/*
 * Parses the list `content` of a create: exactly one text, and images, videos and sounds with their
 * roles. A list with frames has no references.
 */

import { isObject } from '../../http';
import type { GenerationRequest } from '../../jobs/job';
import type { Model } from '../../jobs/models';
import { invalid, missing } from '../../protocol-error';
import type { Body } from '../fields';
import { given, innerUrl, isHttpUrl, requiredString } from '../fields';

export type Content = Pick<GenerationRequest, 'prompt' | 'images' | 'videos' | 'audios'>;

const PROMPT_MAX = 7000;
const FILES_MAX = 12;
const KINDS = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
} as const;

export function parseContent(body: Body, model: Model): Content {
  const list = given(body, 'content');
  if (!Array.isArray(list) || list.length === 0) throw missing('content');
  const content: Content = { prompt: '', images: [], videos: [], audios: [] };
  list.forEach((element: unknown, at) => {
    if (!isObject(element)) throw invalid(`content[${at}]`, 'it must be an object');
    readElement(element, `content[${at}]`, content);
  });
  if (content.prompt === '') throw missing('content.text');
  checkShape(content, model);
  return content;
}

function readElement(element: Body, path: string, content: Content): void {
  const type = given(element, 'type');
  if (type === 'text') {
    if (content.prompt !== '') throw invalid(path, 'only one text is taken');
    content.prompt = requiredString(element, 'text', PROMPT_MAX);
    return;
  }
  if (type !== 'image_url' && type !== 'video_url' && type !== 'audio_url') {
    throw invalid(`${path}.type`, 'it must be text, image_url, video_url or audio_url');
  }
  const role = KINDS[type].find((known) => known === given(element, 'role'));
  if (role === undefined) throw invalid(`${path}.role`, `it must be one of ${KINDS[type].join()}`);
  const url = checkedUrl(innerUrl(element, type, path), type.slice(0, 5), `${path}.${type}.url`);
  if (role === 'reference_video') content.videos.push(url);
  else if (role === 'reference_audio') content.audios.push(url);
  else content.images.push({ url, role });
}

/** The studio stores no uploads, so an address of the form mm_file:// names no file. */
function checkedUrl(url: string, kind: string, path: string): string {
  const isInline = new RegExp(`^data:${kind}/[\\w.+-]+;base64,`).test(url);
  if (isHttpUrl(url) || (isInline && kind !== 'video')) return url;
  throw invalid(path, 'it must be an http(s) address or a data address');
}

function checkShape({ images, videos, audios }: Content, model: Model): void {
  const count = (role: string) => images.filter((image) => image.role === role).length;
  const [first, last] = [count('first_frame'), count('last_frame')];
  const frames = first + last;
  const references = images.length - frames;
  const all = references + videos.length + audios.length;
  if (first > 1 || last > 1) throw invalid('content', 'a role of a frame may occur only once');
  if (last > first) throw invalid('content', 'last_frame needs a first_frame');
  if (frames > 0 && all > 0) throw invalid('content', 'frames and references exclude each other');
  const isOver =
    references > model.referenceImagesMax ||
    (videos.length + audios.length > 0 && !model.takesVideoAndAudio) ||
    Math.max(videos.length, audios.length) > 3 ||
    all > FILES_MAX;
  if (isOver) throw invalid('content', `${model.name} does not take so many references`);
  if (audios.length > 0 && audios.length === all) {
    throw invalid('content', 'audio needs an image or a video');
  }
}
