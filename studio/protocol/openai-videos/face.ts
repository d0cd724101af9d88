/* The protocol of OpenAI's videos, which many servers and gateways speak. */

import type { Face, FaceParts } from '../face';
import { refusalOf } from './refusal';
import { createVideos } from './videos';

const VIDEOS = '/v1/videos';

export function createOpenaiVideosFace(parts: FaceParts): Face {
  const videos = createVideos(parts);
  return {
    calls: {
      [`POST ${VIDEOS}`]: videos.create,
      [`GET ${VIDEOS}`]: videos.list,
      [`GET ${VIDEOS}/{id}/content`]: videos.content,
      [`GET ${VIDEOS}/{id}`]: videos.get,
      [`DELETE ${VIDEOS}/{id}`]: videos.remove,
    },
    refusal: refusalOf,
  };
}
