// GET and DELETE of a task, and the list of an account's tasks. A finished task is one indexed
// read, sent as it was stored; a live one is the further of its row and its workflow's own answer,
// so no two reads ever step back.

import type { TaskObject } from '../contract/task';
import { type TaskStatus, taskStatuses } from '../contract/vocabulary';
import { findTask, listTasks, type TaskRow } from '../db/tasks';
import { isFinal, stepOf, taskObject } from '../domain/task';
import type { ApiDeps } from './app';
import type { ApiContext, ApiRouter } from './context';
import { answerJsonText, Refused, refuse, taskNotFound } from './context';
import { unavailable } from './errors';
import { invalid, limitOf, parameter } from './paging';
import { isTaskId } from './task-id';

interface Found {
  readonly status: TaskStatus;
  readonly step: number;
  readonly text: string;
  readonly by: 'row' | 'workflow' | 'engine' | 'memory';
}

// Final objects never change; this many of about 1 KB are remembered, the oldest forgotten first.
const finalMax = 10_000;

export function readRoutes(router: ApiRouter, deps: ApiDeps): void {
  const finals = new Map<string, { readonly accountId: string; readonly found: Found }>();

  /** The task as it stands, for its owner; undefined for everybody else. */
  const find = async (taskId: string, accountId: string): Promise<Found | undefined> => {
    if (!isTaskId(taskId)) return undefined;
    const known = finals.get(taskId);
    if (known) return known.accountId === accountId ? known.found : undefined;
    const row = await findTask(deps.db, taskId);
    if (!row) return findPending(deps, taskId, accountId);
    if (row.accountId !== accountId) return undefined;
    if (!isFinal(row.status)) return furtherOf(deps, row);
    const found = { ...fromRow(row), by: 'memory' as const };
    if (finals.size >= finalMax) finals.delete(finals.keys().next().value ?? '');
    finals.set(taskId, { accountId, found });
    return fromRow(row);
  };

  /** Looks until the task is final, the time is up, or nobody is there any more to hear it. */
  const findWaiting = async (
    ctx: ApiContext,
    taskId: string,
    waitMs: number,
    look: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> => {
    const until = deps.now() + waitMs;
    const mayWait = () => deps.now() < until && deps.isServing() && !ctx.res.destroyed;
    for (;;) {
      // Listening begins before the look, so that no change falls between the two.
      const change = mayWait() ? deps.listener.changed(taskId, until - deps.now()) : null;
      const found = await look();
      if (!change || !found || isFinal(found.status)) return found;
      await change;
    }
  };

  const show = async (ctx: ApiContext): Promise<void> => {
    const taskId = requestedId(ctx);
    const { accountId } = ctx.state.caller;
    const waitSeconds = waitOf(ctx);
    if (waitSeconds > 0) ctx.set('Preference-Applied', `wait=${waitSeconds}`);
    const found = await findWaiting(ctx, taskId, waitSeconds * 1_000, () =>
      find(taskId, accountId),
    );
    if (!found) return refuse(ctx, taskNotFound);
    answerFound(ctx, found);
  };

  const cancel = async (ctx: ApiContext): Promise<void> => {
    const taskId = requestedId(ctx);
    const { accountId } = ctx.state.caller;
    const before = await find(taskId, accountId);
    if (!before) return refuse(ctx, taskNotFound);
    if (isFinal(before.status)) return refuse(ctx, alreadyFinished);
    const asked = await deps.engine.cancel(taskId);
    if (asked === 'unavailable') return refuse(ctx, unavailable, { 'retry-after': '2' });
    const after = await find(taskId, accountId);
    // Its workflow ended between the two looks: then it was not we who ended it.
    if (asked === 'gone' && after && isFinal(after.status)) return refuse(ctx, alreadyFinished);
    answerFound(ctx, after ?? before);
  };

  const missingId = (ctx: ApiContext): void => {
    refuse(ctx, { code: 'task_id_required', param: 'task_id', message: 'task_id is required' });
  };

  for (const base of ['/v1/videos/generations', '/v1/video/generations']) {
    router.get([base, `${base}/`], missingId);
    router.delete([base, `${base}/`], missingId);
    router.get(`${base}/:task_id`, show);
    router.delete(`${base}/:task_id`, cancel);
  }

  router.get('/v1/tasks', async (ctx) => {
    const limit = limitOf(ctx.query);
    const status = statusOf(ctx.query);
    const model = modelOf(ctx.query);
    const after = afterOf(ctx.query);
    const rows = await listTasks(deps.db, {
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

/** The further of what is stored and what the live task says itself. */
async function furtherOf({ engine }: ApiDeps, row: TaskRow): Promise<Found> {
  const live = await engine.query(row.id, row.version);
  if (live && stepOf(live) > row.version) {
    return { status: live.status, step: stepOf(live), text: JSON.stringify(live), by: 'workflow' };
  }
  return { ...fromRow(row), by: live ? 'workflow' : 'row' };
}

function fromRow(row: TaskRow): Found {
  return { status: row.status, step: row.version, text: row.object, by: 'row' };
}

/** No row yet: the engine may hold a task that no worker has confirmed. Its memo says whose it is. */
async function findPending(
  { db, engine }: ApiDeps,
  taskId: string,
  accountId: string,
): Promise<Found | undefined> {
  const task = await engine.describe(taskId);
  if (task === 'unavailable') throw new Refused(unavailable, { 'retry-after': '2' });
  if (task === 'unknown' || task.accountId !== accountId) return undefined;
  if (!task.open) {
    // It ended since the row was looked for: refused, or confirmed and done in between.
    const row = await findTask(db, taskId);
    return row?.accountId === accountId ? fromRow(row) : undefined;
  }
  const object: TaskObject = taskObject(
    {
      id: taskId,
      traceId: task.traceId,
      model: task.model,
      createdAt: Math.floor(task.startedAtMs / 1000),
    },
    { status: 'pending' },
  );
  return { status: 'pending', step: 0, text: JSON.stringify(object), by: 'engine' };
}

function answerFound(ctx: ApiContext, { status, text, by }: Found): void {
  ctx.set('X-Answered-By', by);
  // Pollers are asked to come back in three seconds: between the two and five that the document recommends.
  if (!isFinal(status)) ctx.set('Retry-After', '3');
  answerJsonText(ctx, text);
}

function requestedId(ctx: ApiContext): string {
  const id = String(ctx.params.task_id ?? '');
  ctx.state.taskId = id.slice(0, 64);
  return id;
}

const alreadyFinished = {
  code: 'task_already_finished',
  param: 'task_id',
  message: 'The task has finished already; it is left as it is.',
} as const;

const waitSecondsMax = 60;

/** `Prefer: wait=N`, 60 s at most; anything else is a preference we do not know and is ignored, as such headers are. */
function waitOf(ctx: ApiContext): number {
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(ctx.get('prefer'));
  return Math.min(Number(wait?.[1] ?? 0), waitSecondsMax);
}

function statusOf(query: Readonly<Record<string, unknown>>): TaskStatus | null {
  const text = parameter(query, 'status');
  if (text === null) return null;
  const status = taskStatuses.find((known) => known === text);
  if (status) return status;
  throw new Refused(invalid('status', `status must be one of ${taskStatuses.join(', ')}.`));
}

/** Tasks of a model that is no longer sold can still be asked for, so any name will do that could be one. */
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
