// Shapes are the request and reply forms of other services. A shape translates a call into ours,
// runs the handler of our own API, and translates its answer. Shapes contain no rules of their own.

import type { Middleware } from 'koa';
import type { VideoRequest } from '../../contract/request';
import type { JsonObject } from '../../contract/safe-json';
import type { TaskObject } from '../../contract/task';
import type { ShowModels } from '../../planning/models.routes';
import type { Create } from '../../tasks/create/create.http';
import type { FindTask } from '../../tasks/find-task';
import type { ListTasks } from '../../tasks/list.routes';
import type { Quote } from '../../tasks/quotes.routes';
import type { TaskHandlers } from '../../tasks/task.routes';
import { isFinal } from '../../tasks/task.rules';
import type { Admit, CountMessage, CountUpload } from '../admit';
import type { ApiCall, ApiState, KeyedCall } from '../context';
import { answerJsonText, Refused } from '../context';
import type { KeyedDeps } from '../deps';

export type Handler = (ctx: KeyedCall) => Promise<void>;

/** The handlers of our own API, which every shape uses. */
export interface Calls extends TaskHandlers {
  readonly create: Create;
  readonly list: ListTasks;
  readonly find: FindTask;
  readonly quote: Quote;
  readonly models: ShowModels;
  readonly countUpload: CountUpload;
  readonly countMessage: CountMessage;
}

export interface ShapeRoute {
  /** The pattern of the path, for logs and metrics. */
  readonly route: string;
  readonly handle: Handler;
}

export interface Shape {
  /** True for all paths whose errors have the form of this shape. */
  owns(path: string): boolean;
  routeOf(method: string, path: string): ShapeRoute | null;
  errorBody(error: NativeError, status: number): object;
}

export type CreateShape = (deps: KeyedDeps, calls: Calls) => Shape;

export interface NativeError {
  readonly message: string;
  readonly type: string;
  readonly param: string;
  readonly code: string;
}

/** A request in our form, and the request that a repeated create is compared with. */
export interface Translated {
  readonly body: JsonObject;
  readonly compared?: (request: VideoRequest) => VideoRequest;
}

/** Answers the calls that belong to a shape. */
export function shapeRoutes(shapes: readonly Shape[], admit: Admit): Middleware<ApiState> {
  return async (ctx, next) => {
    for (const shape of shapes) {
      const found = shape.routeOf(ctx.method, ctx.path);
      if (!found) continue;
      ctx.state.route = found.route;
      return found.handle(await admit(ctx));
    }
    return next();
  };
}

/** Translates every error under the paths of a shape, also those of the checks of the key. */
export function shapeError(ctx: ApiCall, shapes: readonly Shape[]): void {
  if (ctx.status < 400 || typeof ctx.body !== 'string') return;
  const shape = shapes.find((one) => one.owns(ctx.path));
  if (!shape) return;
  const { error } = JSON.parse(ctx.body) as { error: NativeError };
  answerJsonText(ctx, JSON.stringify(shape.errorBody(error, ctx.status)));
}

/** Replaces the answer of a handler of ours. A refusal stays, and `shapeError` translates it. */
export function translateAnswer<T>(ctx: KeyedCall, translate: (answer: T) => object): void {
  if (ctx.status >= 400) return;
  const { body } = ctx;
  const answer = (typeof body === 'string' ? JSON.parse(body) : body) as T;
  answerJsonText(ctx, JSON.stringify(translate(answer)));
}

const tooLate = {
  code: 'task_not_finished',
  param: '',
  message: 'The video is being stored and cannot be cancelled. Delete it when it has finished.',
} as const;

/** True if an unfinished task was not cancelled, because the cancel came too late. */
function isBeingStored({ body }: KeyedCall): boolean {
  const task = JSON.parse(String(body)) as Pick<TaskObject, 'status'> & { cancel_requested?: true };
  return !isFinal(task.status) && !task.cancel_requested;
}

/** Cancels an unfinished task, and deletes the content of a finished one. */
export async function cancelOrDelete(
  { cancel, deleteContent }: TaskHandlers,
  ctx: KeyedCall,
  taskId: string,
): Promise<void> {
  await cancel(ctx, taskId);
  if (ctx.status < 400 && isBeingStored(ctx)) throw new Refused(tooLate);
  if (ctx.state.code !== 'task_already_finished') return;
  delete ctx.state.code;
  ctx.status = 200;
  await deleteContent(ctx, taskId);
}
