/*
 * Parses the `content` list of a create request: text, images with their roles, videos, audio. A
 * list with frames must not contain reference media.
 */

import { isObject } from '../../http';
import type { GenerationRequest, ImageRole } from '../../jobs/job';
import type { Model } from '../../jobs/models';
import { MediaFault, type MediaStore } from '../../media/media-store';
import { invalid, missing } from '../../protocol-error';
import type { Body } from '../fields';
import { given, innerUrl, isHttpUrl } from '../fields';

type Content = Pick<GenerationRequest, 'prompt' | 'images' | 'videos' | 'audios'>;

const ROLES = ['first_frame', 'middle_frame', 'last_frame', 'reference_image'] as const;
const VIDEOS_MAX = 3;
const AUDIOS_MAX = 3;
const FRAMES_MAX = 9;

export function parseContent(value: unknown, model: Model): Content {
  if (value === undefined || value === null) throw missing('content');
  if (!Array.isArray(value)) throw invalid('content', 'it must be a list');
  if (value.length === 0) throw missing('content');
  const content: Content = { prompt: '', images: [], videos: [], audios: [] };
  value.forEach((element: unknown, at) => {
    const path = `content[${at}]`;
    if (!isObject(element)) throw invalid(path, 'it must be an object');
    readElement(element, path, content);
  });
  checkShapes(content, model);
  return content;
}

/** As at the provider, a create whose media cannot be fetched is refused and names the entry. */
export async function checkFetchable(content: unknown, media: MediaStore): Promise<void> {
  const checks = (content as Body[]).map(async (element, at) => {
    const kind = (['image', 'video', 'audio'] as const).find(
      (name) => element.type === `${name}_url`,
    );
    if (!kind) return;
    const path = `content[${at}]`;
    const url = innerUrl(element, `${kind}_url`, path);
    await media.check(url, kind).catch((error: unknown) => {
      if (!(error instanceof MediaFault)) throw error;
      throw invalid(`${path}.${kind}_url`, error.message);
    });
  });
  const settled = await Promise.allSettled(checks);
  const fault = settled.find((outcome) => outcome.status === 'rejected');
  if (fault) throw fault.reason;
}

function readElement(element: Body, path: string, content: Content): void {
  const type = given(element, 'type');
  if (type === undefined) throw missing(`${path}.type`);
  if (type === 'text') {
    const text = given(element, 'text');
    if (typeof text !== 'string') throw invalid(`${path}.text`, 'it must be a string');
    content.prompt = content.prompt === '' ? text : `${content.prompt}\n${text}`;
  } else if (type === 'image_url') {
    const url = checkMedia(innerUrl(element, 'image_url', path), 'image', `${path}.image_url.url`);
    content.images.push({ url, role: readRole(element, path) });
  } else if (type === 'video_url') {
    checkRole(element, path, 'reference_video');
    const url = innerUrl(element, 'video_url', path);
    if (!isHttpUrl(url)) throw invalid(`${path}.video_url.url`, 'it must be an http(s) address');
    content.videos.push(url);
  } else if (type === 'audio_url') {
    checkRole(element, path, 'reference_audio');
    const url = innerUrl(element, 'audio_url', path);
    content.audios.push(checkMedia(url, 'audio', `${path}.audio_url.url`));
  } else {
    throw invalid(`${path}.type`, 'it must be text, image_url, video_url or audio_url');
  }
}

/** An image without a role is a first frame. */
function readRole(element: Body, path: string): ImageRole {
  const role = given(element, 'role') ?? 'first_frame';
  const known = ROLES.find((word) => word === role);
  if (known === undefined) throw invalid(`${path}.role`, `it must be one of ${ROLES.join(', ')}`);
  return known;
}

function checkRole(element: Body, path: string, only: string): void {
  const role = given(element, 'role');
  if (role !== only) throw invalid(`${path}.role`, `it must be ${only}`);
}

function checkMedia(url: string, kind: 'image' | 'audio', path: string): string {
  const inline = new RegExp(`^data:${kind}/[\\w.+-]+;base64,[A-Za-z0-9+/=\\s]+$`);
  if (isHttpUrl(url) || inline.test(url)) return url;
  throw invalid(path, `it must be an http(s) address or data:${kind}/…;base64,…`);
}

function checkShapes(content: Content, model: Model): void {
  const { images, videos, audios } = content;
  const references = images.filter((image) => image.role === 'reference_image').length;
  const frames = images.length - references;
  const referenceCount = references + videos.length + audios.length;
  if (frames > 0 && referenceCount > 0) {
    throw invalid('content', 'first/last frame content cannot be mixed with reference media');
  }
  if (frames + referenceCount === 0 && content.prompt.trim() === '') throw missing('content.text');
  if (videos.length > VIDEOS_MAX)
    throw invalid('content', `at most ${VIDEOS_MAX} videos are taken`);
  if (audios.length > AUDIOS_MAX)
    throw invalid('content', `at most ${AUDIOS_MAX} audios are taken`);
  if (videos.length + audios.length > 0 && !model.takesVideoAndAudio) {
    throw invalid('content', `${model.name} takes no videos and no audios`);
  }
  if (references > model.referenceImagesMax) {
    const limit = `at most ${model.referenceImagesMax} reference images`;
    throw invalid('content', `${model.name} takes ${limit}, not ${references}`);
  }
  if (frames > 0) checkFrames(content, model);
}

function checkFrames(content: Content, model: Model): void {
  const count = (role: ImageRole) => content.images.filter((image) => image.role === role).length;
  const first = count('first_frame');
  const middle = count('middle_frame');
  const last = count('last_frame');
  if (!model.frameImages.ends)
    throw invalid('content', `${model.name} takes no first or last frame`);
  if (first !== 1) throw invalid('content', `exactly one first_frame is needed, not ${first}`);
  if (last > 1) throw invalid('content', `at most one last_frame is taken, not ${last}`);
  if (middle > 0 && !model.frameImages.middle) {
    throw invalid('content', `${model.name} takes no middle frames`);
  }
  if (middle > 0 && last === 0) throw invalid('content', 'middle frames need a last_frame');
  if (first + middle + last > FRAMES_MAX) {
    throw invalid('content', `at most ${FRAMES_MAX} frames are taken`);
  }
}
