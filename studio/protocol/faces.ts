/* The table of protocols. One line registers a protocol; its folder contains everything else. */

import { createArkFace } from './ark/face';
import { createDashscopeFace } from './dashscope/face';
import type { Face, FaceParts } from './face';
import { createKlingFace } from './kling/face';
import { createMediakitFace } from './mediakit/face';
import { createMinimaxFace } from './minimax/face';
import { createOpenaiVideosFace } from './openai-videos/face';

export function createFaces(parts: FaceParts): Face[] {
  return [
    createArkFace(parts),
    createMediakitFace(parts),
    createMinimaxFace(parts),
    createOpenaiVideosFace(parts),
    createDashscopeFace(parts),
    createKlingFace(parts),
  ];
}
