// The paths of Ark's generation tasks: /api/v3/contents/generations/tasks.

import type { VideoRequest } from '../../../contract/request';
import type { JsonObject } from '../../../contract/safe-json';
import type { TaskObject } from '../../../contract/task';
import { isCancelled } from '../../../tasks/task.rules';
import { findRequest } from '../../../tasks/tasks.rows';
import { bodyBytesMax, readJsonBody } from '../../body';
import type { KeyedDeps } from '../../deps';
import { createTranslated } from '../create-translated';
import { type Calls, cancelOrDelete, type Handler, type Shape, translateAnswer } from '../shape';
import { listArkTasks } from './list';
import { nativeBody } from './request';

const base = '/api/v3/contents/generations/tasks';
const oneTask = /^\/api\/v3\/contents\/generations\/tasks\/([^/]+)$/;

export function arkShape(_deps: KeyedDeps, calls: Calls): Shape {
  const list = listArkTasks(arkTask);
  return {
    owns: (path) => path.startsWith('/api/v3/'),
    routeOf(method, path) {
      if (path === base && method === 'POST') return { route: base, handle: createTask(calls) };
      if (path === base && method === 'GET') return { route: base, handle: list };
      const [, id] = oneTask.exec(path) ?? [];
      if (!id) return null;
      const route = `${base}/:task_id`;
      if (method === 'GET') return { route, handle: showTask(calls, id) };
      return method === 'DELETE' ? { route, handle: deleteTask(calls, id) } : null;
    },
    errorBody: ({ message, type, param, code }, status) => ({
      error: { code: arkCodes[code] ?? arkCodes[status] ?? code, message, param, type },
    }),
  };
}

function createTask({ create }: Calls): Handler {
  return async (ctx) => {
    const sent: JsonObject = await readJsonBody(ctx.req, bodyBytesMax);
    await createTranslated(ctx, create, { body: nativeBody(sent) });
    if (ctx.status < 400)
      ctx.set('Location', ctx.response.get('Location').replace(/^.*\//, `${base}/`));
    translateAnswer<{ id: string }>(ctx, ({ id }) => ({ id }));
  };
}

function showTask({ show }: Calls, id: string): Handler {
  return async (ctx) => {
    await show(ctx, id);
    if (ctx.status >= 400) return;
    const sent = await findRequest(ctx.state.db, id);
    translateAnswer<TaskObject>(ctx, (task) => arkTask(task, sent));
  };
}

function deleteTask(calls: Calls, id: string): Handler {
  return async (ctx) => {
    await cancelOrDelete(calls, ctx, id);
    translateAnswer(ctx, () => ({}));
  };
}

/** A forgotten task has no request any more. */
function arkTask(task: TaskObject, sent: Partial<VideoRequest> = {}) {
  const { error, finished_at: finishedAt = task.created_at } = task;
  const [video] = task.data;
  return {
    id: task.id,
    model: task.model,
    status: statusOf(task),
    error: error ? { code: error.code, message: error.message } : null,
    created_at: task.created_at,
    updated_at: finishedAt,
    content: video
      ? {
          video_url: video.url ?? null,
          last_frame_url: video.last_frame_url ?? null,
          file_url: null,
        }
      : null,
    usage: task.usage ?? null,
    ...optionsOf(sent),
    ...(video?.resolution ? { resolution: video.resolution } : {}),
    ...(video?.ratio ? { ratio: video.ratio } : {}),
    ...(task.duration === undefined ? {} : { duration: task.duration }),
    ...(task.seed === undefined ? {} : { seed: task.seed }),
  };
}

/** The options of the create that a task of Ark has too. Those of the finished video replace them. */
function optionsOf({ resolution, ratio, duration, metadata }: Partial<VideoRequest>) {
  const { seed, generate_audio, draft, tools } = metadata ?? {};
  const { execution_expires_after, safety_identifier } = metadata ?? {};
  return {
    ...{ resolution, ratio, duration, seed, generate_audio, draft, tools },
    ...{ execution_expires_after, safety_identifier },
  };
}

function statusOf({ status, error }: TaskObject): string {
  if (status === 'pending' || status === 'submitted') return 'queued';
  return isCancelled(error) ? 'cancelled' : status;
}

/** Ark's codes, by our code or by the status. */
const arkCodes: Readonly<Record<string, string>> = {
  missing_required_parameter: 'MissingParameter',
  model_not_found: 'InvalidEndpointOrModel.NotFound',
  insufficient_balance: 'AccountOverdueError',
  budget_exceeded: 'AccountOverdueError',
  400: 'InvalidParameter',
  401: 'AuthenticationError',
  403: 'AccessDenied',
  404: 'ResourceNotFound',
  405: 'InvalidAction',
  409: 'InvalidAction',
  413: 'InvalidParameter',
  415: 'InvalidParameter',
  429: 'RateLimitExceeded',
  500: 'InternalServiceError',
  503: 'ServiceUnavailable',
};
