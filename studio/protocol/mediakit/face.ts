/* The enhancer's protocol, MediaKit. */

import type { Face, FaceParts } from '../face';
import { createEnhancer } from './enhancer';

export function createMediakitFace(parts: FaceParts): Face {
  const enhancer = createEnhancer(parts);
  return {
    calls: {
      'POST /api/v1/tools/enhance-video': enhancer.submit,
      'GET /api/v1/tasks/{id}': enhancer.get,
    },
    refusal: (error, requestId) => ({ success: false, error, request_id: requestId }),
  };
}
