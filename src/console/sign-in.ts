// Finds the operator of a request: by `Authorization: Bearer vo_…`, or by the cookie of a session that
// began with such a key. Unknown, expired and disabled keys get the same answer. Nothing is cached, so
// a disabled operator is refused at once.

import type { Context } from 'koa';
import { isWellFormedKey } from '../accounts/keys.rows';
import { logged, type Via } from '../database/operator-log';
import { addressOf } from '../gateway/auth';
import { type Buckets, limitUnknown, rate } from '../gateway/limits';
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

/** The page sends it with the calls that no person caused. They do not keep a session open. */
const unattended = 'x-unattended';

type Refuse = (ctx: Context, code: string) => void;

/** `calls` limits the calls of each operator. */
export function createSignIn(deps: ConsoleDeps, calls: Buckets) {
  const { parts, signingIn: db } = deps;
  const origin = parts.config.consoleUrl;
  const cookies = cookieOf(origin);
  const refuse = createRefusals(deps);
  const { search, lookUp } = createSearch(deps, refuse);
  const refuseForged = createOriginCheck(origin, refuse);

  const limited = <Found extends Operator>(operator: Found): Found => {
    const refused = calls.take(operator.operatorId);
    if (refused) throw refused;
    return operator;
  };

  // Other keys, also those of customers, are refused without a look-up.
  const byKey = async (ctx: Context, key: string) =>
    limited(await lookUp(ctx, isWellFormedKey(key, 'vo_') && (() => findByKey(db, key))));

  const byCookie = async (ctx: Context): Promise<Operator> => {
    const cookie = cookies.read(ctx);
    if (!cookie) throw signedOut();
    refuseForged(ctx);
    const found = await lookUp(ctx, isCookie(cookie) && (() => findSession(db, cookie)));
    const { isStale, ...operator } = limited(found);
    // A read must be answered even if nothing can be written. The session then only ends earlier.
    if (isStale && !headerOf(ctx, unattended))
      await touchSession(db, cookie).catch(() => undefined);
    return operator;
  };

  return {
    async find(ctx: Context): Promise<SignedIn> {
      const header = headerOf(ctx, 'authorization');
      const key = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? '';
      // A proxy in front may add a header of its own, which must not sign a browser out.
      const isForUs = header !== undefined && (key.startsWith('vo_') || !cookies.read(ctx));
      return isForUs
        ? { ...(await byKey(ctx, key)), via: 'api' }
        : { ...(await byCookie(ctx)), via: 'console' };
    },

    /** Exchanges a key for the cookie of a session. */
    async begin(ctx: Context, readKey: () => Promise<unknown>): Promise<void> {
      refuseForged(ctx);
      const given = await readKey();
      const key = typeof given === 'string' ? given.trim() : '';
      const operator = await byKey(ctx, key);
      const act = signInOf(operator);
      const { cookie } = await logged(db, act, { kind: 'service' }, async (trx) => ({
        cookie: await beginSession(trx, operator.operatorId, key),
        effect: `signed in as ${operator.role}`,
      }));
      cookies.set(ctx, cookie, sessionHours * 3_600);
    },

    async end(ctx: Context): Promise<void> {
      refuseForged(ctx);
      const cookie = cookies.read(ctx) ?? '';
      // A session that has ended already is signed out too.
      await search(ctx, isCookie(cookie) && (() => endSession(db, cookie)));
      cookies.set(ctx, '', 0);
    },
  };
}

/** Counts and logs a refused call. */
function createRefusals({ log, meters }: ConsoleDeps): Refuse {
  return (ctx, code) => {
    meters.add('video_operator_refusals_total', { code });
    log.warn({ event: 'operator_refused', code, path: ctx.path, address: addressOf(ctx) }, code);
  };
}

const signInOf = ({ operatorId, name: who }: Operator) =>
  ({ who, operatorId, via: 'console', command: 'console sign-in', why: null }) as const;

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

/** False: what was sent is no key or cookie, so nothing is asked. */
type Find<Found> = false | (() => Promise<Found | null>);

/**
 * Searches for a key or a cookie, and limits the searches for unknown ones by one address. Beyond the
 * limit they run one after the other: an operator who shares the address is still found.
 */
function createSearch({ parts, elapsed }: ConsoleDeps, refuse: Refuse) {
  const unknown = limitUnknown(rate(parts.config.unknownRatePerSecond, 1), elapsed);
  const oneByOne = inTurn();
  const search = async <Found>(ctx: Context, find: Find<Found>): Promise<Found | null> => {
    const address = addressOf(ctx);
    const limited = find ? unknown.take(address) : null;
    const found = find ? await (limited ? oneByOne(find) : find()) : null;
    if (found && !limited) unknown.giveBack(address);
    if (found || !limited) return found;
    refuse(ctx, 'signed_out');
    throw limited;
  };
  return {
    search,
    async lookUp<Found>(ctx: Context, find: Find<Found>): Promise<Found> {
      const found = await search(ctx, find);
      if (found) return found;
      refuse(ctx, 'signed_out');
      throw signedOut();
    },
  };
}

/** Returns a function that begins each work after the previous one has ended. */
function inTurn() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

// Browsers accept the prefix only over https. It keeps other hosts from setting the cookie.
export const cookieNameOf = (consoleUrl: string) =>
  consoleUrl.startsWith('https:') ? '__Host-console' : 'console';

const isCookie = (text: string) => /^[\w-]{43}$/.test(text);

function cookieOf(consoleUrl: string) {
  const isSecure = consoleUrl.startsWith('https:');
  const name = cookieNameOf(consoleUrl);
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
