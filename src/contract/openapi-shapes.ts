// OpenAPI operations of the forms of other services. Their fields are described by those services,
// so only the paths are listed here.

import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';

export type ShapeName = 'openai' | 'ark' | 'mcp';

export const shapesTag = 'Other forms';

function operation(
  operationId: string,
  summary: string,
  { names = [], status = '200' }: { names?: readonly string[]; status?: '200' | '302' } = {},
): ZodOpenApiOperationObject {
  const parameters = z.object(Object.fromEntries(names.map((name) => [name, z.string().min(1)])));
  return {
    operationId,
    tags: [shapesTag],
    summary,
    ...(names.length > 0 ? { requestParams: { path: parameters } } : {}),
    responses: {
      [status]: { description: 'The answer, in the form of the other service.' },
      default: { description: 'A refusal, in the form of the other service.' },
    },
  };
}

const oneVideo = { names: ['video_id'] };
const oneTask = { names: ['id'] };

export const shapePaths: Readonly<Record<ShapeName, ZodOpenApiPathsObject>> = {
  openai: {
    '/v1/videos': {
      post: operation('createOpenAiVideo', 'OpenAI: create a video'),
      get: operation('listOpenAiVideos', 'OpenAI: list videos'),
    },
    '/v1/videos/{video_id}': {
      get: operation('getOpenAiVideo', 'OpenAI: read a video', oneVideo),
      delete: operation('deleteOpenAiVideo', 'OpenAI: cancel or delete a video', oneVideo),
    },
    '/v1/videos/{video_id}/content': {
      get: operation('getOpenAiContent', 'OpenAI: download', { ...oneVideo, status: '302' }),
    },
  },
  ark: {
    '/api/v3/contents/generations/tasks': {
      post: operation('createArkTask', 'Ark: create a task'),
    },
    '/api/v3/contents/generations/tasks/{id}': {
      get: operation('getArkTask', 'Ark: read a task', oneTask),
      delete: operation('deleteArkTask', 'Ark: cancel or delete a task', oneTask),
    },
  },
  mcp: { '/mcp': { post: operation('callMcp', 'Model Context Protocol: one message') } },
};
