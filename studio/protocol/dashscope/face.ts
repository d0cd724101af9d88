/*
 * The protocol of DashScope (Alibaba Cloud Model Studio). Its calls are below `/dashscope`, because
 * the enhancer has the same path for its tasks.
 */

import type { Face, FaceParts } from '../face';
import { refusalOf } from './refusal';
import { createTasks } from './tasks';

const API = '/dashscope/api/v1';

export function createDashscopeFace(parts: FaceParts): Face {
  const tasks = createTasks(parts);
  return {
    calls: {
      [`POST ${API}/services/aigc/video-generation/video-synthesis`]:
        tasks.creator('video-generation'),
      [`POST ${API}/services/aigc/image2video/video-synthesis`]: tasks.creator('image2video'),
      [`GET ${API}/tasks`]: tasks.list,
      [`GET ${API}/tasks/`]: tasks.list,
      [`GET ${API}/tasks/{id}`]: tasks.get,
      [`POST ${API}/tasks/{id}/cancel`]: tasks.cancel,
    },
    refusal: refusalOf,
  };
}
