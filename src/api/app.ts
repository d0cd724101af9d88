// The HTTP API on one screen: what every request passes, in its order, and which routes there are. Handlers parse, call
// one function and answer.

import Router from '@koa/router';
import type { Knex } from 'knex';
import Koa from 'koa';
import type { TaskListener } from '../db/task-listener';
import type { Catalogue } from '../domain/catalogue';
import type { Engine } from '../temporal';
import { accountRoutes } from './account';
import { createAuthentication } from './auth';
import { callbackRoutes } from './callbacks';
import type { ApiState } from './context';
import { createRoutes } from './create';
import { docsRoutes } from './docs';
import { answerErrors, answerUnknownRoutes } from './errors';
import { modelRoutes } from './models';
import { opsRoutes } from './ops';
import { pageRoutes } from './pages';
import { quoteRoutes } from './quotes';
import { readRoutes } from './read';
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

  const authenticate = createAuthentication(deps.db, deps.settings.pepper, deps.now);
  const routes = new Router<ApiState>();
  createRoutes(routes, deps);
  quoteRoutes(routes, deps);
  readRoutes(routes, deps);
  modelRoutes(routes, deps);
  callbackRoutes(routes, deps);
  accountRoutes(routes, deps);

  app.use(observeRequests(deps));
  app.use(answerErrors(deps.observer));
  app.use(open.routes());
  app.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/v1/') && ctx.path !== '/v1') return next();
    ctx.state.caller = await authenticate(ctx.get('authorization') || undefined);
    return next();
  });
  app.use(routes.routes());
  app.use(answerUnknownRoutes([open, routes]));
  return app;
}
