// The HTTP API on one screen: what every request passes, in its order, and which routes there are.
// Handlers parse, call one function and answer.

import Router from '@koa/router';
import type { Knex } from 'knex';
import Koa, { type Middleware } from 'koa';
import type { TaskListener } from '../db/task-listener';
import type { Catalogue } from '../domain/catalogue';
import type { Engine } from '../temporal';
import { accountRoutes } from './account';
import { type Authenticate, createAuthentication } from './auth';
import { busyRoutes } from './busy-routes';
import { callbackRoutes } from './callbacks';
import type { ApiState } from './context';
import { createTask } from './create';
import { docsRoutes } from './docs';
import { answerErrors, answerUnknownRoutes } from './errors';
import { createFindTask } from './find-task';
import { listRoutes } from './list';
import { modelRoutes } from './models';
import { opsRoutes } from './ops';
import { pageRoutes } from './pages';
import { quoteRoutes } from './quotes';
import { readRoutes, showTask } from './read';
import { observeRequests, type RequestObserver } from './requests';

export interface ApiSettings {
  readonly pepper: string;
  readonly publicUrl: string;
  readonly corsOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  readonly createRatePerSecond: number;
  readonly createBurst: number;
  readonly unfinishedTasksMax: number;
  readonly createsInFlightPerAccountMax: number;
  readonly playground: boolean;
  readonly temporalUiUrl: string | null;
  /** For links into that page. */
  readonly temporalNamespace?: string;
  /** Where the playground finds media to pick from; the address ends with a slash. */
  readonly playgroundSamplesUrl?: string | null;
  readonly version: { readonly name: string; readonly version: string; readonly commit: string };
}

export interface ApiDeps {
  readonly db: Knex;
  readonly engine: Engine;
  readonly catalogue: () => Catalogue;
  readonly settings: ApiSettings;
  readonly listener: TaskListener;
  readonly now: () => number;
  readonly observer: RequestObserver;
  /** False while the process is stopping: balancers are to look elsewhere. */
  readonly isServing: () => boolean;
}

export function createApp(deps: ApiDeps): Koa<ApiState> {
  const app = new Koa<ApiState>();
  app.silent = true; // Errors are logged once, where they are answered.

  const open = new Router<ApiState>();
  opsRoutes(open, deps);
  docsRoutes(open, deps);
  pageRoutes(open, deps);

  const find = createFindTask(deps);
  const create = createTask(deps);
  const routes = new Router<ApiState>();
  routes.post(['/v1/videos/generations', '/v1/video/generations'], create);
  quoteRoutes(routes, deps);
  readRoutes(routes, deps, find);
  listRoutes(routes, deps);
  modelRoutes(routes, deps);
  callbackRoutes(routes, deps);
  accountRoutes(routes, deps);

  app.use(observeRequests(deps));
  app.use(answerErrors(deps.observer));
  app.use(requireKey(createAuthentication(deps.db, deps.settings.pepper, deps.now)));
  app.use(busyRoutes({ create, show: showTask(deps, find) }));
  app.use(open.routes());
  app.use(routes.routes());
  app.use(answerUnknownRoutes([open, routes]));
  return app;
}

/** Everything under /v1 needs a key, and nothing else does. */
function requireKey(authenticate: Authenticate): Middleware<ApiState> {
  return async (ctx, next) => {
    const { path } = ctx;
    if (path.startsWith('/v1/') || path === '/v1') {
      ctx.state.caller = await authenticate(ctx.req.headers.authorization);
    }
    return next();
  };
}
