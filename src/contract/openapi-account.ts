// OpenAPI operations of an account: its tasks, balance and statement, and the callback of a task.

import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { callbacksSchema } from './callback-schema';
import { errorResponses, jsonReply, pageQuery, taskIdParameter } from './openapi-parts';
import { accountSchema, statementSchema, tasksSchema } from './reply-schema';
import { withoutNul } from './safe-json';
import { summarySchema, usageNames, usageSchema } from './usage-schema';
import { taskStatuses } from './vocabulary';

/** The largest number of eleven digits. As a unix time it is in the year 5138. */
const unixSecondsMax = 99_999_999_999;
const unixSeconds = (description: string) =>
  z
    .int()
    .min(0)
    .max(unixSecondsMax)
    .optional()
    .meta({ description: `Unix seconds. ${description}` });
const readErrors = errorResponses('invalid_api_key');
const listErrors = errorResponses('invalid_value', 'invalid_api_key');

export const accountOperations = {
  tasks: {
    operationId: 'listTasks',
    tags: ['Account'],
    summary: 'The account’s tasks, newest first',
    requestParams: {
      query: z.object({
        ...pageQuery(/^task_[0-9a-hjkmnp-tv-z]{26}$/),
        order: z.enum(['asc', 'desc']).optional().meta({ description: '`asc`: oldest first.' }),
        status: z.enum(taskStatuses).optional(),
        model: z
          .string()
          .regex(/^[A-Za-z0-9_.-]{1,80}$/)
          .optional(),
        created_after: unixSeconds('Tasks created in this second or later.'),
        created_before: unixSeconds('Tasks created before this second.'),
        'label.name': z.string().min(1).max(64).regex(withoutNul).optional().meta({
          description:
            'Tasks whose label `name` has this value: put the name of your label after the dot. Several labels must all fit. A page may then show fewer tasks than `limit` while `next` is not null.',
        }),
      }),
    },
    responses: { '200': jsonReply('One page.', tasksSchema), ...listErrors },
  },
  account: {
    operationId: 'getAccount',
    tags: ['Account'],
    summary: 'The balance',
    responses: {
      '200': jsonReply('The available and the held amount.', accountSchema, {
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
      query: z.object(pageQuery(/^[0-9]{1,15}$/)),
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
  summary: {
    operationId: 'getMonthSummary',
    tags: ['Account'],
    summary: 'What the account had, got and was charged in a month',
    description: 'As CSV with `Accept: text/csv`.',
    requestParams: {
      path: z.object({ month: z.string().regex(/^[1-9][0-9]{3}-(0[1-9]|1[0-2])$/) }),
    },
    responses: {
      '200': {
        description: 'The month, until now if it goes on.',
        content: {
          'application/json': { schema: summarySchema },
          'text/csv': { schema: z.string() },
        },
      },
      ...listErrors,
    },
  },
  usage: {
    operationId: 'getUsage',
    tags: ['Account'],
    summary: 'What the tasks of each day, model or key were charged',
    description: 'A task counts on the day of its end. As CSV with `Accept: text/csv`.',
    requestParams: {
      query: z.object({
        from: z.iso.date().optional().meta({ description: 'The first day. Default: 30 days.' }),
        to: z.iso.date().optional().meta({ description: 'The last day. Default: today.' }),
        by: z
          .string()
          .regex(new RegExp(`^(${usageNames.join('|')})(,(${usageNames.join('|')}))*$`))
          .optional()
          .meta({
            description: `Some of ${usageNames.join(', ')}, separated by commas. Default: day.`,
          }),
      }),
    },
    responses: {
      '200': {
        description: 'The report.',
        content: {
          'application/json': { schema: usageSchema },
          'text/csv': { schema: z.string() },
        },
      },
      ...listErrors,
    },
  },
  callbacks: {
    tags: ['Tasks'],
    summary: 'The attempts of the task’s callback',
    requestParams: { path: taskIdParameter },
    responses: {
      '200': jsonReply('Every attempt, and when the next one is due.', callbacksSchema),
      ...errorResponses('invalid_api_key', 'task_not_found'),
    },
  },
  resend: {
    tags: ['Tasks'],
    summary: 'Send the callback once more',
    description:
      'Starts a new delivery of the same message, with the same `webhook-id` and attempts of its own.',
    requestParams: { path: taskIdParameter },
    responses: {
      '202': jsonReply('The attempts so far, and when the next one is due.', callbacksSchema),
      ...errorResponses('invalid_api_key', 'task_not_found', 'callback_not_found'),
    },
  },
} satisfies Record<string, ZodOpenApiOperationObject>;
