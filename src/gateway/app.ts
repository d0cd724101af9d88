// Builds the HTTP API: its middleware, in order, and all routes. The handlers are in the folders of the
// things.

import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { keyRoutes } from '../accounts/keys.routes';
import { alertRoutes } from '../callbacks/alerts.routes';
import { callbackRoutes } from '../callbacks/callbacks.routes';
import { webhookRoutes } from '../callbacks/webhooks.routes';
import { deliveryRoutes } from '../files/deliver.routes';
import { createSendBytes } from '../files/send-bytes.http';
import { uploadRoutes } from '../files/uploads.routes';
import { accountRoutes } from '../money/account.routes';
import { usageRoutes } from '../money/usage.routes';
import { createShowModels, modelRoutes } from '../planning/models.routes';
import { answerCreate } from '../tasks/create/answer.http';
import { createTask } from '../tasks/create/create.http';
import { readRequest } from '../tasks/create/read-request.http';
import { createFindNamed, createFindTask } from '../tasks/find-task';
import { listAccountTasks } from '../tasks/list.routes';
import { createQuote, quoteRoutes } from '../tasks/quotes.routes';
import { createTaskHandlers, readRoutes } from '../tasks/task.routes';
import { createAdmission } from './admit';
import { limitAtOnce } from './at-once';
import { addressOf, createAuthentication } from './auth';
import type { ApiState, KeyedCall, KeyedState } from './context';
import type { ApiDeps } from './deps';
import { docsRoutes } from './docs.routes';
import { answerError } from './errors';
import { busyRoutes } from './fast-path';
import { opsRoutes } from './health.routes';
import { limitUnknown } from './limits';
import { createLookUps } from './look-ups';
import { observeRequests } from './observe-requests';
import { pageRoutes } from './playground.routes';
import { repeatReads } from './repeat-reads';
import { showRetryHint } from './retry-hints';
import { type Shape, shapeError, shapeRoutes } from './shapes/shape';
import { createShapes } from './shapes/shapes';
import { createShares } from './shares';
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

  const { settings, limits, elapsed } = deps;
  app.proxy = settings.trustedProxies > 0;
  app.maxIpsCount = settings.trustedProxies;
  const unknownLookups = limitUnknown(limits.unknown, elapsed);
  const lookUps = createLookUps(deps.db, limits.databaseLookUps);
  const sendBytes = createSendBytes(deps, lookUps);
  deliveryRoutes(open, deps, { lookUps, sendBytes, unknownLookups });
  const find = createFindTask(lookUps, unknownLookups, elapsed);
  const findNamed = createFindNamed(find);
  const create = createTask(deps, lookUps);
  const createRoute = async (ctx: KeyedCall): Promise<void> =>
    answerCreate(ctx, await create(ctx, await readRequest(ctx)));
  const tasks = createTaskHandlers(deps, findNamed);
  const authenticate = createAuthentication(deps, lookUps, unknownLookups);
  const databaseOf = createShares(deps.db, limits.databaseConnections.own);
  const { admit, ...counts } = createAdmission(authenticate, databaseOf, limits, elapsed);
  const list = listAccountTasks();
  const quote = createQuote(deps);
  const models = createShowModels(deps);
  const shapes = createShapes(deps, { ...tasks, create, list, quote, models, find, ...counts });
  const routes = new Router<KeyedState>({ sensitive: true });
  // The check is part of the router, so that no route of this router is reachable without a key.
  routes.use(async (ctx, next) => {
    await admit(ctx);
    await next();
  });
  routes.post(['/v1/videos/generations', '/v1/video/generations'], createRoute);
  quoteRoutes(routes, quote);
  readRoutes(routes, tasks);
  routes.get('/v1/tasks', (ctx) => list(ctx));
  modelRoutes(routes, models);
  callbackRoutes(routes, findNamed);
  accountRoutes(routes);
  usageRoutes(routes);
  webhookRoutes(routes, deps);
  alertRoutes(routes);
  keyRoutes(routes, deps);
  uploadRoutes(routes, deps, { lookUps, sendBytes, unknownLookups });

  app.use(observeRequests(deps));
  app.use(finishReplies(deps, shapes));
  // Without a proxy the server counts the connections of an address (commands/connection-shares.ts).
  if (app.proxy) app.use(limitAddresses(deps));
  const busy = busyRoutes({ admit, create: createRoute, show: tasks.show });
  const unknown = answerUnknownRoutes({ open, keyed: routes, admit, shapes });
  const routers = [open.routes(), routes.routes()];
  app.use(repeatReads([busy, shapeRoutes(shapes, admit), ...routers, unknown]));
  return app;
}

function limitAddresses({ limits }: ApiDeps): Middleware<ApiState> {
  const begin = limitAtOnce(limits, 'calls', 'address');
  return (ctx, next) => {
    begin(ctx, addressOf(ctx));
    return next();
  };
}

/** One middleware for all of this, because each one costs time in every request. */
function finishReplies({ observer }: ApiDeps, shapes: readonly Shape[]): Middleware<ApiState> {
  return async (ctx, next) => {
    await next().catch((error: unknown) => answerError(ctx, error, observer));
    shapeError(ctx, shapes);
    showRetryHint(ctx);
  };
}
