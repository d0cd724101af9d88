// Builds the HTTP API: its middleware, in order, and all routes. The handlers are in routes/ and
// create/.

import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { createAdmission, kindOf } from './admit';
import { limitAtOnce } from './at-once';
import { createAuthentication } from './auth';
import type { ApiCall, ApiState, KeyedCall, KeyedState } from './context';
import { answerCreate } from './create/answer';
import { createTask } from './create/create';
import { readRequest } from './create/read-request';
import type { ApiDeps } from './deps';
import { answerError } from './errors';
import { busyRoutes } from './fast-path';
import { limitUnknown } from './limits';
import { observeRequests } from './observe-requests';
import { repeatReads } from './repeat-reads';
import { showRetryHint } from './retry-hints';
import { accountRoutes } from './routes/account';
import { callbackRoutes } from './routes/callbacks';
import { docsRoutes } from './routes/docs';
import { deliveryRoutes } from './routes/files/deliver';
import { createSendBytes } from './routes/files/send-bytes';
import { uploadRoutes } from './routes/files/uploads';
import { createFindNamed, createFindTask } from './routes/find-task';
import { opsRoutes } from './routes/health';
import { listAccountTasks } from './routes/list';
import { modelRoutes } from './routes/models';
import { pageRoutes } from './routes/playground';
import { createQuote, quoteRoutes } from './routes/quotes';
import { createTaskHandlers, readRoutes } from './routes/read';
import { webhookRoutes } from './routes/webhooks';
import { type Shape, shapeError, shapeRoutes } from './shapes/shape';
import { createShapes } from './shapes/shapes';
import { answerUnknownRoutes } from './unknown-routes';

export function createApp(deps: ApiDeps): Koa<ApiState> {
  const app = new Koa<ApiState>();
  app.silent = true; // Koa must not log errors, because errors.ts logs them.

  // Admission compares paths case-sensitively, so the routers do too. Otherwise another spelling of
  // a path could reach a route under the wrong rate limit.
  const open = new Router<ApiState>({ sensitive: true });
  opsRoutes(open, deps);
  docsRoutes(open, deps);
  pageRoutes(open, deps);

  const { settings, rates, elapsed } = deps;
  app.proxy = settings.trustedProxies > 0;
  app.maxIpsCount = settings.trustedProxies;
  const unknownLookups = limitUnknown(settings.unknownRatePerSecond, elapsed);
  const sendBytes = createSendBytes(deps);
  deliveryRoutes(open, deps, sendBytes, unknownLookups);
  const find = createFindTask(deps, unknownLookups);
  const findNamed = createFindNamed(deps, find);
  const changesAtOnce = limitAtOnce({
    running: rates.changesAtOncePerAccountMax,
    // The queue needs no limit, because the rate limits of the keys already limit the number of
    // waiting calls.
    waiting: Number.POSITIVE_INFINITY,
    work: 'creates',
  });
  const create = createTask(deps, changesAtOnce);
  const createRoute = async (ctx: KeyedCall): Promise<void> =>
    answerCreate(ctx, await create(ctx, await readRequest(ctx)));
  const tasks = createTaskHandlers(deps, { find: findNamed, changesAtOnce });
  const authenticate = createAuthentication(deps, unknownLookups);
  const { admit, countUpload } = createAdmission(authenticate, rates, elapsed);
  const list = listAccountTasks(deps);
  const quote = createQuote(deps);
  const shapes = createShapes(deps, { ...tasks, create, list, quote, find, countUpload });
  const running = rates.listsAtOncePerAccountMax;
  const listsAtOnce = limitAtOnce({ running, waiting: 25 * running, work: 'lists' });
  const routes = new Router<KeyedState>({ sensitive: true });
  // The check is part of the router, so that no route of this router is reachable without a key.
  const admitted = async <T>(ctx: ApiCall, work: (ctx: KeyedCall) => Promise<T>): Promise<T> => {
    const keyed = await admit(ctx);
    const run = () => work(keyed);
    return kindOf(ctx) === 'lists' ? listsAtOnce(keyed.state.caller.accountId, run) : run();
  };
  routes.use((ctx, next) => admitted(ctx, next));
  routes.post(['/v1/videos/generations', '/v1/video/generations'], createRoute);
  quoteRoutes(routes, quote);
  readRoutes(routes, tasks);
  routes.get('/v1/tasks', (ctx) => list(ctx));
  modelRoutes(routes, deps);
  callbackRoutes(routes, deps, findNamed);
  accountRoutes(routes, deps);
  webhookRoutes(routes, deps);
  uploadRoutes(routes, deps, sendBytes, unknownLookups);

  app.use(observeRequests(deps));
  app.use(finishReplies(deps, shapes));
  const busy = busyRoutes({ admit, create: createRoute, show: tasks.show });
  const unknown = answerUnknownRoutes({ open, keyed: routes, admit, shapes });
  const routers = [open.routes(), routes.routes()];
  app.use(repeatReads([busy, shapeRoutes(shapes, admitted), ...routers, unknown]));
  return app;
}

/** One middleware for all of this, because each one costs time in every request. */
function finishReplies({ observer }: ApiDeps, shapes: readonly Shape[]): Middleware<ApiState> {
  return async (ctx, next) => {
    await next().catch((error: unknown) => answerError(ctx, error, observer));
    shapeError(ctx, shapes);
    showRetryHint(ctx);
  };
}
