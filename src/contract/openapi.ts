// Builds the OpenAPI 3.1 document from the schemas that validate requests and describe replies.
// routes/docs.ts serves it.

import type {
  CreateDocumentOptions,
  ZodOpenApiObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
} from 'zod-openapi';
import { createDocument } from 'zod-openapi';
import { alertRequestSchema } from './alert-schema';
import { taskExamples } from './examples';
import { keyRequestSchema } from './key-schema';
import { superResolutionSchema } from './metadata-schema';
import { accountOperations } from './openapi-account';
import { createOperation, quoteOperation } from './openapi-create';
import { filePaths } from './openapi-files';
import { keyPaths } from './openapi-keys';
import {
  errorResponses,
  jsonReply,
  preferHeader,
  replyHeaders,
  taskIdParameter,
} from './openapi-parts';
import { servicePaths } from './openapi-service';
import { type ShapeName, shapePaths, shapesTag } from './openapi-shapes';
import { webhookPaths } from './openapi-webhooks';
import { cancelledSchema, createdSchema, modelsSchema, taskSchema } from './reply-schema';
import { videoRequestSchema } from './request-schema';
import { webhookRequestSchema } from './webhook-schema';

interface DocumentedService {
  readonly version: string;
  /** The base URL under which callers reach the API. */
  readonly publicUrl: string;
  /** The forms of other services that this service speaks. */
  readonly shapes?: readonly ShapeName[];
}

export function createOpenApiDocument(service: DocumentedService): object {
  return createDocument(documentOf(service), { override: openReplies });
}

type OverrideContext = Parameters<
  Extract<CreateDocumentOptions['override'], (...context: never[]) => unknown>
>[0];

// In the tests the schemas of replies refuse undocumented fields. The published document allows
// undocumented fields, because fields may be added later. Few objects never allow them. The reply
// of a create has exactly five fields, and the API refuses unknown super-resolution options and
// unknown fields of webhooks, keys and alerts.
const closed: readonly unknown[] = [
  ...[createdSchema, superResolutionSchema],
  ...[webhookRequestSchema, keyRequestSchema, alertRequestSchema],
];

function openReplies({ jsonSchema, zodSchema }: OverrideContext): void {
  if (jsonSchema.additionalProperties === false && !closed.includes(zodSchema)) {
    delete jsonSchema.additionalProperties;
  }
}

function documentOf({ publicUrl, version, shapes = [] }: DocumentedService): ZodOpenApiObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Video generation tasks',
      version,
      description:
        'Asynchronous video generation: create a task with a POST, poll it with a GET until `succeeded` or `failed`. ' +
        'Fields may be added to replies; clients ignore what they do not know. Every error has the same shape (`Error`). ' +
        'A path that is not listed here answers 404 `route_not_found`, a method that is not listed 405 ' +
        '`method_not_allowed` with `Allow`; GET and DELETE of a task without its id answer 400 `task_id_required`. ' +
        'Paths with `/v1/video/generations` in place of `/v1/videos/generations` are aliases of older clients. ' +
        'HEAD answers like GET. Every reply carries `X-Request-Id`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Tasks', description: 'Create, query, cancel.' },
      { name: 'Files', description: 'Results, and inputs that you upload.' },
      { name: 'Models', description: 'What a key may use, and what it costs.' },
      { name: 'Account', description: 'Tasks and money of the account.' },
      { name: 'Service', description: 'For operators.' },
      ...(shapes.length > 0
        ? [{ name: shapesTag, description: 'For clients of other services.' }]
        : []),
    ],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: '`Authorization: Bearer <API_KEY>`',
        },
      },
    },
    paths: Object.assign(
      { ...taskPaths(), ...otherPaths() },
      ...shapes.map((name) => shapePaths[name]),
    ),
  };
}

function taskPaths(): ZodOpenApiPathsObject {
  return {
    '/v1/videos/generations': { post: { ...createOperation, operationId: 'createTask' } },
    '/v1/videos/generations/{task_id}': { get: getOperation, delete: cancelOperation },
    '/v1/videos/generations/{task_id}/request': { get: requestOperation },
    '/v1/videos/generations/{task_id}/content': { delete: deleteContentOperation },
    '/v1/videos/generations/{task_id}/callbacks': {
      get: { ...accountOperations.callbacks, operationId: 'listCallbackAttempts' },
    },
    '/v1/videos/generations/{task_id}/callbacks/resend': {
      post: { ...accountOperations.resend, operationId: 'resendCallback' },
    },
  };
}

const getOperation: ZodOpenApiOperationObject = {
  operationId: 'getTask',
  tags: ['Tasks'],
  summary: 'Query a task',
  description:
    'Poll every 2 to 5 seconds until `status` is `succeeded` or `failed`, or let the service wait with `Prefer: wait=N`.',
  requestParams: {
    path: taskIdParameter,
    header: preferHeader,
  },
  responses: {
    '200': jsonReply('The task as it stands.', taskSchema, taskExamples, {
      ...replyHeaders,
      'Retry-After': {
        description: 'Seconds until the next poll makes sense; only while the task is unfinished.',
        schema: { type: 'integer' },
      },
      'X-Answered-By': {
        description:
          '`workflow`: the answer of the task’s workflow, whose `message` says what it is doing. `row`: the stored task.',
        schema: { type: 'string', enum: ['workflow', 'row'] },
      },
      'Preference-Applied': {
        description: 'The wait that was applied, for example `wait=30`.',
        schema: { type: 'string' },
      },
    }),
    ...errorResponses('task_id_required', 'invalid_api_key', 'task_not_found'),
  },
};

const requestOperation: ZodOpenApiOperationObject = {
  operationId: 'getTaskRequest',
  tags: ['Tasks'],
  summary: 'What was sent for a task',
  description:
    'The body of the create with the values that apply, until the task is forgotten or erased. Sent again, it asks for the same video.',
  requestParams: { path: taskIdParameter },
  responses: {
    '200': jsonReply('The body of a create.', videoRequestSchema),
    ...errorResponses('invalid_api_key', 'task_not_found', 'request_removed'),
  },
};

const cancelOperation: ZodOpenApiOperationObject = {
  operationId: 'cancelTask',
  tags: ['Tasks'],
  summary: 'Cancel a task',
  description:
    'Asks for cancellation and answers with the task as it then is. An unfinished task ends `failed`, uncharged; ' +
    'whichever final state is stored first wins.',
  requestParams: { path: taskIdParameter },
  responses: {
    '200': jsonReply('The task as it stands.', cancelledSchema, {
      running: { ...taskExamples.running, cancel_requested: true },
    }),
    ...errorResponses(
      'task_id_required',
      'invalid_api_key',
      'task_not_found',
      'task_already_finished',
    ),
  },
};

const deleteContentOperation: ZodOpenApiOperationObject = {
  operationId: 'deleteTaskContent',
  tags: ['Tasks'],
  summary: 'Delete the video of a task',
  description:
    'Deletes the video and the last frame of a finished task at once and answers with the task, whose links are gone. ' +
    'The task itself stays. A repeat changes nothing.',
  requestParams: { path: taskIdParameter },
  responses: {
    '200': jsonReply('The task without its links.', taskSchema),
    ...errorResponses('invalid_api_key', 'task_not_found', 'task_not_finished'),
  },
};

function otherPaths(): ZodOpenApiPathsObject {
  return {
    '/v1/videos/quotes': { post: quoteOperation },
    '/v1/models': {
      get: {
        operationId: 'listModels',
        tags: ['Models'],
        summary: 'The models this key may use',
        responses: {
          '200': jsonReply('Abilities and prices.', modelsSchema),
          ...errorResponses('invalid_api_key'),
        },
      },
    },
    '/v1/tasks': { get: accountOperations.tasks },
    '/v1/account': { get: accountOperations.account },
    '/v1/account/statement': { get: accountOperations.statement },
    '/v1/account/summaries/{month}': { get: accountOperations.summary },
    '/v1/usage': { get: accountOperations.usage },
    ...webhookPaths,
    ...keyPaths,
    ...filePaths,
    ...servicePaths,
  };
}
