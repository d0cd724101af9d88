/* The generator's protocol, Ark. */

import type { Face, FaceParts } from '../face';
import { createGenerator } from './generator';

const TASKS = '/api/v3/contents/generations/tasks';

export function createArkFace(parts: FaceParts): Face {
  const generator = createGenerator(parts);
  return {
    calls: {
      [`POST ${TASKS}`]: generator.create,
      [`GET ${TASKS}`]: generator.list,
      [`GET ${TASKS}/{id}`]: generator.get,
      [`DELETE ${TASKS}/{id}`]: generator.remove,
    },
    refusal: (error) => ({ error }),
  };
}
