// The HTTP server of the console: probes, its page, sign-in and the admin API. Each route of the admin API runs
// one admin command (routes.ts). No path of a request reaches the file system.

import Koa, { type Context, type Middleware } from 'koa';
import { carryOut, type Parts } from '../commands/admin/carry-out';
import { answerBody } from '../commands/admin/command-line';
import { nameOf } from '../commands/admin/values';
import { isRetryable } from '../database/database';
import { readJsonBody } from '../gateway/body';
import { createBuckets, rate } from '../gateway/limits';
import { queryOf } from '../gateway/query';
import { includes, type OperatorRole } from '../operators/roles.rules';
import { createExports, pageInput } from './csv-export';
import type { ConsoleDeps } from './deps';
import { inputOf, withoutFormat } from './http-input';
import { openApi } from './openapi';
import { createPage } from './page';
import { ConsoleRefusal, replyTo } from './refusal';
import { type FoundRoute, findRoute, prefix } from './routes';
import { createSignIn, type SignedIn } from './sign-in';

const bodyBytesMax = 64 * 1024;
const callsPerSecond = 20;

type SignIn = ReturnType<typeof createSignIn>;
type Admit = (ctx: Context, role: OperatorRole) => Promise<SignedIn>;

export function createConsole(deps: ConsoleDeps): Koa {
  const { config } = deps.parts;
  const app = new Koa();
  app.silent = true; // Koa must not log errors, because `answers` logs them.
  app.proxy = config.trustedProxies > 0;
  app.maxIpsCount = config.trustedProxies;
  const subject = 'An operator may call';
  const { elapsed } = deps;
  const calls = createBuckets({ subject, ...rate(callsPerSecond), elapsed });
  const signIn = createSignIn(deps, calls);
  const admit = createAdmission(deps, signIn);
  const own = ownRoutes(deps, signIn, admit);
  const answerFile = createPage(config);
  const sendCsv = createExports(deps);
  app.use(answers(deps));
  app.use(async (ctx) => {
    const handler = own[`${ctx.method} ${ctx.path}`];
    if (handler) return handler(ctx);
    if (answerFile(ctx)) return undefined;
    const found = findRoute(ctx.method, ctx.path);
    if (!found) throw new ConsoleRefusal('not_found', 'There is no such route.');
    ctx.state.route = found.route.http.at;
    const operator = await admit(ctx, found.route.role);
    await runCommand(ctx, deps.parts, operator, found, sendCsv);
    return undefined;
  });
  return app;
}

/** Finds the operator of a request and checks its role. */
function createAdmission({ log, meters }: ConsoleDeps, signIn: SignIn): Admit {
  return async (ctx, role) => {
    const operator = await signIn.find(ctx);
    if (includes(operator.role, role)) return operator;
    const { name, role: is } = operator;
    const fields = { event: 'operator_refused', code: 'forbidden', operator: name, role: is };
    meters.add('video_operator_refusals_total', { code: 'forbidden' });
    log.warn({ ...fields, route: `${ctx.method} ${ctx.path}` }, `this needs the role ${role}`);
    const sentence = `This needs the role ${role}; you are ${is === 'viewer' ? 'a' : 'an'} ${is}.`;
    throw new ConsoleRefusal('forbidden', sentence);
  };
}

async function runCommand(
  ctx: Context,
  parts: Parts,
  { role, name, operatorId, via }: SignedIn,
  { route, params }: FoundRoute,
  sendCsv: ReturnType<typeof createExports>,
): Promise<void> {
  const isPost = ctx.method === 'POST';
  const sent = isPost
    ? await readJsonBody(ctx.req, route.http.bodyBytesMax ?? bodyBytesMax)
    : queryOf(ctx);
  const { csv, fields } = withoutFormat(route, sent);
  const input = inputOf(route, { params, fields });
  const why = input.option('why');
  const act = {
    ...{ who: name, operatorId, via, command: input.line },
    why: why === undefined ? null : nameOf(why, 'why'),
  };
  if (csv) {
    const read = (after: string | undefined, limit: number) =>
      carryOut(parts, route.command, pageInput(input, after, limit), act, role);
    return sendCsv(ctx, { csv, route: route.http.at, operator: name, read });
  }
  ctx.body = answerBody(await carryOut(parts, route.command, input, act, role));
}

type Handlers = Readonly<Record<string, (ctx: Context) => Promise<void> | void>>;

/** The routes that are no command. */
function ownRoutes(deps: ConsoleDeps, signIn: SignIn, admit: Admit): Handlers {
  const { config } = deps.parts;
  const { version } = deps.version;
  return {
    'GET /livez': (ctx) => {
      ctx.body = { alive: true };
    },
    'GET /readyz': async (ctx) => {
      const database = await deps.signingIn.raw('select 1').then(
        () => true,
        () => false,
      );
      const serving = deps.isServing();
      const ready = database && serving;
      ctx.status = ready ? 200 : 503;
      ctx.body = { ready, parts: { database, serving } };
    },
    'POST /session': async (ctx) => {
      await signIn.begin(ctx, async () => (await readJsonBody(ctx.req, bodyBytesMax)).key);
      ctx.status = 204;
    },
    'DELETE /session': async (ctx) => {
      await signIn.end(ctx);
      ctx.status = 204;
    },
    [`GET ${prefix}/me`]: async (ctx) => {
      const { operatorId, name, role } = await admit(ctx, 'viewer');
      const { currency, reportsTimeZone: timeZone, temporalUiUrl, temporalNamespace } = config;
      ctx.body = {
        data: {
          ...{ operatorId, name, role, currency, timeZone },
          ...{ temporalUiUrl, temporalNamespace, version },
        },
      };
    },
    [`GET ${prefix}/openapi.json`]: async (ctx) => {
      await admit(ctx, 'viewer');
      ctx.body = openApi(version, config.consoleUrl);
    },
  };
}

/** Sets the headers of every answer, turns errors into answers and logs each request. */
function answers({ parts, log, elapsed }: ConsoleDeps): Middleware {
  const isSecure = parts.config.consoleUrl.startsWith('https:');
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // Links to files are secrets.
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    ...(isSecure ? { 'Strict-Transport-Security': 'max-age=63072000' } : {}),
  };
  return async (ctx, next) => {
    const began = elapsed();
    ctx.set(headers);
    await next().catch((error: unknown) => {
      const known = replyTo(error);
      if (!known) log.error({ event: 'console_error', err: error }, 'the console failed');
      if (known?.status === 503) {
        const err = isRetryable(error) ? error : (error as Error).cause;
        log.warn({ event: 'console_unavailable', err }, 'a server does not answer');
      }
      const message = 'Something went wrong here. The log of the console says what.';
      const {
        status,
        body,
        headers: more,
      } = known ?? {
        ...{ status: 500, headers: {} },
        body: { error: { code: 'internal_error', message, param: '' } },
      };
      ctx.set({ ...more });
      ctx.status = status;
      ctx.body = body;
    });
    const ms = Math.round(elapsed() - began);
    const { method, status } = ctx;
    const route = (ctx.state.route as string | undefined) ?? `${method} ${ctx.path}`;
    log.info({ event: 'console_request', route, status, ms }, 'answered');
  };
}
