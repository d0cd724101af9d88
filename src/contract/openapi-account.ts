// The lists and the books of an account in the OpenAPI document.

import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { errorResponses, jsonReply, taskIdParameter } from './openapi-parts';
import { accountSchema, callbacksSchema, statementSchema, tasksSchema } from './reply-schema';
import { taskStatuses } from './vocabulary';

const limit = z.int().min(1).max(100).optional().meta({ description: 'Default 20.' });
const readErrors = errorResponses('invalid_api_key', 'internal_error', 'unavailable');
const listErrors = errorResponses(
  'invalid_value',
  'invalid_api_key',
  'internal_error',
  'unavailable',
);

export const accountOperations = {
  tasks: {
    operationId: 'listTasks',
    tags: ['Account'],
    summary: 'The account’s tasks, newest first',
    requestParams: {
      query: z.object({
        limit,
        after: z.string().optional().meta({ description: 'The `next` of the page before.' }),
        status: z.enum(taskStatuses).optional(),
        model: z.string().optional(),
      }),
    },
    responses: { '200': jsonReply('One page.', tasksSchema), ...listErrors },
  },
  account: {
    operationId: 'getAccount',
    tags: ['Account'],
    summary: 'The balance',
    responses: {
      '200': jsonReply('What is free and what is held.', accountSchema, {
        balance: { available: '9994.990600', held: '5.009400', currency: 'CNY' },
      }),
      ...readErrors,
    },
  },
  statement: {
    operationId: 'getStatement',
    tags: ['Account'],
    summary: 'Every movement of money, newest first',
    description: 'As CSV with `Accept: text/csv`.',
    requestParams: {
      query: z.object({
        limit,
        after: z
          .string()
          .regex(/^\d{1,15}$/)
          .optional()
          .meta({ description: 'The `next` of the page before.' }),
      }),
    },
    responses: {
      '200': {
        description: 'One page.',
        content: {
          'application/json': { schema: statementSchema },
          'text/csv': { schema: z.string() },
        },
      },
      ...listErrors,
    },
  },
  callbacks: {
    tags: ['Tasks'],
    summary: 'How the task’s callback fared',
    requestParams: { path: taskIdParameter },
    responses: {
      '200': jsonReply('Every attempt, and when the next one is due.', callbacksSchema),
      ...errorResponses('invalid_api_key', 'task_not_found', 'internal_error', 'unavailable'),
    },
  },
} satisfies Record<string, ZodOpenApiOperationObject>;
