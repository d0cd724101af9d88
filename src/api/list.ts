// GET /v1/tasks: the account's tasks, newest first, a page at a time.

import { type TaskStatus, taskStatuses } from '../contract/vocabulary';
import { listTasks } from '../db/tasks';
import type { ApiDeps } from './app';
import type { ApiRouter } from './context';
import { answerJsonText, Refused } from './context';
import { invalid, limitOf, parameter } from './paging';
import { isTaskId } from './task-id';

export function listRoutes(router: ApiRouter, { db }: ApiDeps): void {
  router.get('/v1/tasks', async (ctx) => {
    const limit = limitOf(ctx.query);
    const status = statusOf(ctx.query);
    const model = modelOf(ctx.query);
    const after = afterOf(ctx.query);
    const rows = await listTasks(db, {
      accountId: ctx.state.caller.accountId,
      limit: limit + 1,
      ...(status ? { status } : {}),
      ...(model ? { model } : {}),
      ...(after ? { after } : {}),
    });
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? (page.at(-1)?.id ?? null) : null;
    answerJsonText(
      ctx,
      `{"data":[${page.map(({ object }) => object).join(',')}],"next":${JSON.stringify(next)}}`,
    );
  });
}

function statusOf(query: Readonly<Record<string, unknown>>): TaskStatus | null {
  const text = parameter(query, 'status');
  if (text === null) return null;
  const status = taskStatuses.find((known) => known === text);
  if (status) return status;
  throw new Refused(invalid('status', `status must be one of ${taskStatuses.join(', ')}.`));
}

/**
 * Tasks of a model that is no longer sold can still be asked for, so any name will do that could be
 * one.
 */
function modelOf(query: Readonly<Record<string, unknown>>): string | null {
  const text = parameter(query, 'model');
  if (text === null || /^[\w.-]{1,80}$/.test(text)) return text;
  throw new Refused(invalid('model', 'model must be the name of a model.'));
}

function afterOf(query: Readonly<Record<string, unknown>>): string | null {
  const text = parameter(query, 'after');
  if (text === null || isTaskId(text)) return text;
  throw new Refused(invalid('after', 'after must be the "next" of the page before.'));
}
