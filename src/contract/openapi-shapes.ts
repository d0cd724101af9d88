// OpenAPI operations of the forms of other services. Their fields are described by those services,
// so only the paths are listed here.

import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';

export type ShapeName = 'openai' | 'ark' | 'mcp';

export const shapesTag = 'Other forms';

interface Parts {
  readonly names?: readonly string[];
  readonly status?: '200' | '302';
  readonly query?: Readonly<Record<string, z.ZodType>>;
  /** The required fields of the body, by its media type. */
  readonly body?: Readonly<Record<string, z.ZodObject>>;
}

function operation(
  operationId: string,
  summary: string,
  { names = [], status = '200', query, body }: Parts = {},
): ZodOpenApiOperationObject {
  const parameters = z.object(Object.fromEntries(names.map((name) => [name, z.string().min(1)])));
  return {
    operationId,
    tags: [shapesTag],
    summary,
    ...(names.length > 0 ? { requestParams: { path: parameters } } : {}),
    ...(query ? { requestParams: { query: z.object(query) } } : {}),
    ...(body ? { requestBody: requiredBody(body) } : {}),
    responses: {
      [status]: { description: 'The answer, in the form of the other service.' },
      default: { description: 'A refusal, in the form of the other service.' },
    },
  };
}

function requiredBody(body: NonNullable<Parts['body']>) {
  const content = Object.entries(body).map(([type, schema]) => [type, { schema }]);
  return { required: true, content: Object.fromEntries(content) } as const;
}

const text = z.string().min(1);
const openAiVideo = z.looseObject({ model: text, prompt: text });
const arkTask = z.looseObject({
  model: text,
  content: z.array(z.looseObject({ type: text })).min(1),
});
const mcpMessage = z.looseObject({ jsonrpc: z.literal('2.0'), method: text });
const arkPage = {
  page_num: z.int().min(1).max(10_000).optional(),
  page_size: z.int().min(1).max(500).optional(),
  'filter.status': z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']).optional(),
  'filter.model': z.string().optional(),
  'filter.task_ids': z.array(z.string()).max(500).optional(),
  'filter.service_tier': z.literal('default').optional(),
};

const oneVideo = { names: ['video_id'] };
const oneTask = { names: ['id'] };

export const shapePaths: Readonly<Record<ShapeName, ZodOpenApiPathsObject>> = {
  openai: {
    '/v1/videos': {
      post: operation('createOpenAiVideo', 'OpenAI: create a video', {
        body: { 'multipart/form-data': openAiVideo, 'application/json': openAiVideo },
      }),
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
      post: operation('createArkTask', 'Ark: create a task', {
        body: { 'application/json': arkTask },
      }),
      get: operation('listArkTasks', 'Ark: list tasks', { query: arkPage }),
    },
    '/api/v3/contents/generations/tasks/{id}': {
      get: operation('getArkTask', 'Ark: read a task', oneTask),
      delete: operation('deleteArkTask', 'Ark: cancel or delete a task', oneTask),
    },
  },
  mcp: {
    '/mcp': {
      post: operation('callMcp', 'Model Context Protocol: one message', {
        body: { 'application/json': mcpMessage },
      }),
    },
  },
};
