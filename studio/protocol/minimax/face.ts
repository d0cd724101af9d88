/* The protocol of MiniMax's videos, version 2: generations and regenerations. */

import type { Face, FaceParts } from '../face';
import { refusalOf } from './refusal';
import { createTasks } from './tasks';

const QUERY = '/v2/query/video_generation';

export function createMinimaxFace(parts: FaceParts): Face {
  const tasks = createTasks(parts);
  return {
    calls: {
      'POST /v2/video_generation': tasks.generate,
      'POST /v2/video_regeneration': tasks.regenerate,
      [`GET ${QUERY}`]: tasks.list,
      [`GET ${QUERY}/{id}`]: tasks.get,
      'DELETE /v2/video_generation/{id}': tasks.remove,
    },
    refusal: refusalOf,
  };
}
