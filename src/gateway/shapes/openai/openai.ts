// The paths of OpenAI's videos: /v1/videos. Our own paths below /v1/videos lie between them and are left
// out, and so is every path that this form does not have.

import type { TaskObject } from '../../../contract/task';
import { askedTask } from '../../../tasks/find-task';
import { askerOf } from '../../auth';
import { type KeyedCall, refuse } from '../../context';
import type { KeyedDeps } from '../../deps';
import { queryOf } from '../../query';
import { createTranslated, readCreated } from '../create-translated';
import { type Calls, cancelOrDelete, type Handler, type Shape, translateAnswer } from '../shape';
import { dropFile, readOpenAiRequest } from './request';
import { videoOf } from './video';

const base = '/v1/videos';
const oneVideo = /^\/v1\/videos\/(?!(?:generations|quotes)(?:\/|$))([^/]+)(\/content)?$/;

export function openAiShape(deps: KeyedDeps, calls: Calls): Shape {
  const create = createVideo(deps, calls);
  const list = listVideos(calls);
  return {
    owns: (path) => path === base || oneVideo.test(path),
    routeOf(method, path) {
      if (path === base && method === 'POST') return { route: base, handle: create };
      if (path === base && method === 'GET') return { route: base, handle: list };
      const [, id, content] = oneVideo.exec(path) ?? [];
      if (!id) return null;
      const route = `${base}/:video_id${content ?? ''}`;
      if (content) return method === 'GET' ? { route, handle: showContent(calls, id) } : null;
      if (method === 'GET') return { route, handle: showVideo(calls, id) };
      return method === 'DELETE' ? { route, handle: deleteVideo(calls, id) } : null;
    },
    errorBody: ({ message, type, param, code }, status) => ({
      error: {
        message,
        type: status === 402 ? 'insufficient_quota' : type,
        param: param || null,
        code,
      },
    }),
  };
}

function createVideo(deps: KeyedDeps, { create, find, countUpload }: Calls): Handler {
  return async (ctx) => {
    const request = await readOpenAiRequest(deps, ctx, countUpload);
    const outcome = await createTranslated(ctx, create, request).catch(async (error: unknown) => {
      await dropFile(deps, ctx, request);
      throw error;
    });
    // A task exists only after `created`, or if it is unknown; a replayed task has its own file.
    const mayExist = ctx.res.hasHeader('Location') && outcome.outcome !== 'replayed';
    if (!mayExist) await dropFile(deps, ctx, request);
    if (outcome.outcome === 'refused') return;
    const { id } = outcome.task;
    ctx.set('Location', `${base}/${id}`);
    const found = await readCreated(ctx, deps, id, () => find(id, askerOf(ctx), true));
    if (found) ctx.body = videoOf(askedTask(found.text, found.asked));
  };
}

function showVideo({ show }: Calls, id: string): Handler {
  return async (ctx) => {
    await show(ctx, id, videoOf);
    pollAfter(ctx);
  };
}

/** The header by which these clients choose when to read again. */
function pollAfter(ctx: KeyedCall): void {
  const seconds = Number(ctx.response.get('Retry-After'));
  if (seconds > 0) ctx.set('openai-poll-after-ms', String(seconds * 1_000));
}

function listVideos({ list }: Calls): Handler {
  return (ctx) =>
    list(ctx, (tasks, next) => {
      const data = tasks.map(videoOf);
      // A page of a list that is filtered by labels may be empty and not the last one.
      const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? next];
      return { object: 'list', data, first_id: first, last_id: last, has_more: next !== null };
    });
}

/** Redirects to the link of the file, which needs no key. */
function showContent({ show }: Calls, id: string): Handler {
  return async (ctx) => {
    const { variant = 'video' } = queryOf(ctx);
    if (variant !== 'video' && variant !== 'thumbnail') {
      const message = 'variant: must be "video" or "thumbnail", which is the last frame.';
      return refuse(ctx, { code: 'unsupported_value', param: 'variant', message });
    }
    await show(ctx, id);
    if (ctx.status >= 400) return;
    const task = JSON.parse(String(ctx.body)) as TaskObject;
    const link = variant === 'video' ? task.data[0]?.url : task.data[0]?.last_frame_url;
    if (!link) return refuse(ctx, noContent(task, variant));
    // Koa would send a null as JSON, with the length of the task.
    ctx.body = '';
    ctx.remove('Content-Type');
    ctx.status = 302;
    ctx.set('Location', link);
  };
}

function noContent({ status, error, data }: TaskObject, variant: 'video' | 'thumbnail') {
  if (status === 'succeeded') {
    const reason = data[0]?.url_gone_reason;
    if (reason) {
      const message = `The content is not kept any more: ${reason}.`;
      return { code: 'file_removed', param: '', message } as const;
    }
    const message = 'A thumbnail is the last frame; create with metadata.return_last_frame true.';
    return { code: 'file_not_found', param: 'variant', message } as const;
  }
  if (status === 'failed') {
    const message = `The task failed and has no content: ${error?.message}`;
    return { code: 'file_not_found', param: '', message } as const;
  }
  const message = `The ${variant} is not ready: the task has not finished.`;
  return { code: 'task_not_finished', param: '', message } as const;
}

function deleteVideo(calls: Calls, id: string): Handler {
  return async (ctx) => {
    await cancelOrDelete(calls, ctx, id);
    translateAnswer(ctx, () => ({ id, object: 'video.deleted', deleted: true }));
  };
}
