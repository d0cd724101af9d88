/*
 * The protocol of Kling. Its calls are below `/kling`, because other faces have videos of their own
 * below `/v1/videos`. Callers sign a token with their secret key, which is the key of the studio.
 */

import type { Face, FaceParts } from '../face';
import { refusalOf } from './refusal';
import { PATHS } from './request';
import { isToken } from './token';
import { createVideos } from './videos';

const VIDEOS = '/kling/v1/videos';

export function createKlingFace(parts: FaceParts): Face {
  const videos = createVideos(parts);
  const calls = PATHS.map((path) => ({
    [`POST ${VIDEOS}/${path}`]: videos.creator(path),
    [`GET ${VIDEOS}/${path}`]: videos.lister(path),
    [`GET ${VIDEOS}/${path}/{id}`]: videos.reader(path),
  }));
  return {
    calls: Object.assign({}, ...calls) as Face['calls'],
    refusal: refusalOf,
    isKey: isToken,
  };
}
