// Finds the operator of a request: by `Authorization: Bearer vo_…`, or by the cookie of a session that
// began with such a key. Unknown, expired and disabled keys get the same answer. Nothing is cached, so
// a disabled operator is refused at once.

import type { Context } from 'koa';
import { isWellFormedKey } from '../accounts/keys.rows';
import { logged, type Via } from '../database/operator-log';
import { addressOf } from '../gateway/auth';
import { limitUnknown, rate } from '../gateway/limits';
import { findByKey, type Operator } from '../operators/operators.rows';
import {
  beginSession,
  endSession,
  findSession,
  sessionHours,
  touchSession,
} from '../operators/sessions.rows';
import type { ConsoleDeps } from './deps';
import { ConsoleRefusal } from './refusal';
import { isForged } from './same-origin.rules';

export interface SignedIn extends Operator {
  readonly via: Via;
}

const signedOut = () =>
  new ConsoleRefusal(
    'signed_out',
    'The key or the session is missing, unknown, expired or disabled. Sign in, or send the key of an ' +
      'operator as "Authorization: Bearer vo_…".',
  );

type Refuse = (ctx: Context, code: string) => void;

export function createSignIn(deps: ConsoleDeps) {
  const { parts, log } = deps;
  const { reading, acting, config } = parts;
  const origin = config.consoleUrl;
  const cookies = cookieOf(origin.startsWith('https:'));
  const refuse: Refuse = (ctx, code) =>
    log.warn({ event: 'operator_refused', code, path: ctx.path, address: addressOf(ctx) }, code);
  const byKey = createKeyCheck(deps, refuse);

  const refuseForged = createOriginCheck(origin, refuse);

  const byCookie = async (ctx: Context): Promise<Operator> => {
    const cookie = cookies.read(ctx);
    if (!cookie) throw signedOut();
    refuseForged(ctx);
    const session = await findSession(reading, cookie);
    if (!session) throw signedOut();
    const { isStale, ...operator } = session;
    // A read must be answered even if nothing can be written. The session then only ends earlier.
    if (isStale) await touchSession(acting, cookie).catch(() => undefined);
    return operator;
  };

  return {
    async find(ctx: Context): Promise<SignedIn> {
      const header = headerOf(ctx, 'authorization');
      if (header === undefined) return { ...(await byCookie(ctx)), via: 'console' };
      const key = /^bearer +(\S+) *$/i.exec(header)?.[1] ?? '';
      return { ...(await byKey(ctx, key)), via: 'api' };
    },

    /** Exchanges a key for the cookie of a session. */
    async begin(ctx: Context, readKey: () => Promise<unknown>): Promise<void> {
      refuseForged(ctx);
      const key = await readKey();
      const operator = await byKey(ctx, typeof key === 'string' ? key.trim() : '');
      const { operatorId, name: who } = operator;
      const act = {
        who,
        operatorId,
        via: 'console',
        command: 'console sign-in',
        why: null,
      } as const;
      const { cookie } = await logged(acting, act, { kind: 'service' }, async (trx) => ({
        cookie: await beginSession(trx, operatorId),
        effect: `signed in as ${operator.role}`,
      }));
      cookies.set(ctx, cookie, sessionHours * 3_600);
    },

    async end(ctx: Context): Promise<void> {
      refuseForged(ctx);
      const cookie = cookies.read(ctx);
      if (cookie) await endSession(acting, cookie);
      cookies.set(ctx, '', 0);
    },
  };
}

/** Refuses a request that a page of another origin may have caused. */
function createOriginCheck(origin: string, refuse: Refuse) {
  return (ctx: Context): void => {
    const { method } = ctx;
    const site = headerOf(ctx, 'sec-fetch-site');
    if (!isForged({ method, site, origin: headerOf(ctx, 'origin') }, origin)) return;
    refuse(ctx, 'cross_site');
    throw new ConsoleRefusal(
      'cross_site',
      `This request came from a page that is not of ${origin}.`,
    );
  };
}

/** Finds the operator of a key. Limits the look-ups of unknown keys by one address. */
function createKeyCheck({ parts, elapsed }: ConsoleDeps, refuse: Refuse) {
  const unknown = limitUnknown(rate(parts.config.unknownRatePerSecond, 1), elapsed);
  return async (ctx: Context, key: string): Promise<Operator> => {
    // Other keys, also those of customers, are refused without a look-up.
    const isKey = isWellFormedKey(key, 'vo_');
    const limited = isKey ? unknown.take(addressOf(ctx)) : null;
    const operator = isKey ? await findByKey(parts.reading, key) : null;
    if (operator) {
      if (!limited) unknown.giveBack(addressOf(ctx));
      return operator;
    }
    refuse(ctx, 'signed_out');
    throw limited ?? signedOut();
  };
}

function cookieOf(isSecure: boolean) {
  // Browsers accept the prefix only over https. It keeps other hosts from setting the cookie.
  const name = isSecure ? '__Host-console' : 'console';
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read: (ctx: Context) => ctx.cookies.get(name),
    /** Koa refuses to set a secure cookie on a connection that a proxy in front has decrypted. */
    set: (ctx: Context, value: string, seconds: number) =>
      ctx.set('Set-Cookie', `${name}=${value}; Max-Age=${seconds}; ${attributes}`),
  };
}

/** A header that is sent twice counts as one with an unknown value. */
function headerOf({ req }: Context, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join() : value;
}
