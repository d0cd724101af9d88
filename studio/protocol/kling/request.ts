/*
 * Parses the body of a create. The path says what the video is made from. Nothing names the size:
 * it follows from `mode`, and for a video from an image from that image.
 */

import { randomInt } from 'node:crypto';
import { isObject } from '../../http';
import type { GenerationRequest } from '../../jobs/job';
import { invalid, missing } from '../../protocol-error';
import type { Body } from '../fields';
import { given, isHttpUrl, optionalString, optionalWord } from '../fields';

export const PATHS = ['text2video', 'image2video', 'multi-image2video'] as const;
export type Path = (typeof PATHS)[number];

const EXPIRES_AFTER_SECONDS = 86_400;
const IMAGES_MAX = 4;
/** The model of the studio that renders the videos of all models. */
const RENDERED_AS = 'studio-2.0';

export function parseCreate(body: Body, path: Path): GenerationRequest {
  const model = optionalString(body, 'model_name', 100) ?? 'kling-v1';
  if (!/^kling-v\d/.test(model)) throw invalid('model_name', 'there is no such model');
  const images = parseImages(body, path);
  const prompt = optionalString(body, 'prompt', 2_500) ?? '';
  if (prompt === '' && path !== 'image2video') throw missing('prompt');
  const ratio = optionalWord(body, 'aspect_ratio', ['16:9', '9:16', '1:1']);
  return {
    model: RENDERED_AS,
    prompt,
    images,
    videos: [],
    audios: [],
    resolution: optionalWord(body, 'mode', ['std', 'pro']) === 'pro' ? '1080p' : '720p',
    ratio: path === 'image2video' ? 'adaptive' : (ratio ?? '16:9'),
    duration: parseDuration(body),
    seed: randomInt(2 ** 31),
    watermark: isObject(body.watermark_info) && body.watermark_info.enabled === true,
    generateAudio: optionalWord(body, 'sound', ['on', 'off']) === 'on',
    draft: false,
    returnLastFrame: false,
    executionExpiresAfter: EXPIRES_AFTER_SECONDS,
  };
}

/** The length is a text. */
function parseDuration(body: Body): number {
  const text = given(body, 'duration') ?? '5';
  const seconds = typeof text === 'string' && /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (seconds >= 3 && seconds <= 15) return seconds;
  throw invalid('duration', 'it must be a text from "3" to "15"');
}

function parseImages(body: Body, path: Path): GenerationRequest['images'] {
  if (path === 'text2video') return [];
  if (path === 'image2video') {
    const first = given(body, 'image');
    const last = given(body, 'image_tail');
    if (first === undefined && last === undefined) throw missing('image');
    return [
      ...(first === undefined
        ? []
        : [{ url: image(first, 'image'), role: 'first_frame' as const }]),
      ...(last === undefined
        ? []
        : [{ url: image(last, 'image_tail'), role: 'last_frame' as const }]),
    ];
  }
  const list = given(body, 'image_list');
  if (!Array.isArray(list) || list.length === 0) throw missing('image_list');
  if (list.length > IMAGES_MAX) throw invalid('image_list', `more than ${IMAGES_MAX} images`);
  return list.map((item: unknown) => ({
    url: image(isObject(item) ? item.image : item, 'image_list'),
    role: 'reference_image' as const,
  }));
}

/** An image is an address, or base64 without `data:`. */
function image(value: unknown, name: string): string {
  if (typeof value === 'string' && isHttpUrl(value)) return value;
  const isBase64 = typeof value === 'string' && /^[\w+/]{8,}={0,2}$/.test(value);
  if (isBase64) return `data:image/png;base64,${value}`;
  throw invalid(name, 'it must be an address or base64');
}
