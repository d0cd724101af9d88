// The checks of every task API call before its body is read: the key, the rate limit of this kind
// of call, and the account. To refuse a call here, the API sends at most one SQL statement: the
// look-up of a key that is not cached.

import type { Caller } from '../accounts/accounts.rows';
import { accountDisabled } from '../accounts/payment-refusals.rows';
import { isUpload } from '../files/read-upload.http';
import { type Authenticate, addressOf } from './auth';
import { limitCallsOfAccounts } from './calls-in-progress';
import { type ApiCall, type KeyedCall, Refused } from './context';
import { countMessages, type MessageKind } from './count-messages';
import type { Rates } from './deps';
import { type CallerLimit, createBuckets, createCallerLimit, showLimit } from './limits';
import type { DatabaseOf } from './shares';
import { limitUploads } from './uploads-at-once';

export type Admit = (ctx: ApiCall) => Promise<KeyedCall>;

/** Counts an upload that is a part of another call. Throws a refusal if the limit is reached. */
export type CountUpload = (ctx: KeyedCall) => void;

/** Counts a call at /mcp, as soon as its kind is known. Throws a refusal if the limit is reached. */
export type CountMessage = (ctx: KeyedCall, kind: MessageKind) => void;

/**
 * Kinds of calls, each with its own rate limit. A create has a second limit, which is checked only
 * after the look-up of its Idempotency-Key.
 */
type CallKind = 'changes' | 'uploads' | 'quotes' | 'reads' | 'lists';

export function createAdmission(
  authenticate: Authenticate,
  databaseOf: DatabaseOf,
  rates: Rates,
  elapsed: () => number,
): {
  readonly admit: Admit;
  readonly countUpload: CountUpload;
  readonly countMessage: CountMessage;
} {
  const limits = limitsOf(rates, elapsed);
  const messages = countMessages(limits);
  const beginCall = limitCallsOfAccounts(rates);
  const beginUpload = limitUploads(rates);
  const count = (ctx: ApiCall, kind: CallKind, caller: Caller): void => {
    const limited = limits[kind].take(caller);
    if (limited) throw limited;
    showLimit(ctx, limits[kind].headersOf(caller));
  };
  const admit: Admit = async (ctx) => {
    const caller = await authenticate(ctx.req.headers.authorization, () => addressOf(ctx));
    ctx.state.caller = caller;
    if (ctx.method === 'POST' && ctx.path === '/mcp') messages.begin(ctx, caller);
    else count(ctx, kindOf(ctx), caller);
    if (caller.accountDisabled) throw new Refused(accountDisabled);
    beginCall(ctx, caller.accountId);
    if (isUpload(ctx.req)) beginUpload(ctx, caller.accountId);
    ctx.state.db = databaseOf(caller.accountId);
    return ctx as KeyedCall;
  };
  return {
    admit,
    countUpload: (ctx) => count(ctx, 'uploads', ctx.state.caller),
    countMessage: (ctx, kind) => messages.countAs(ctx, ctx.state.caller, kind),
  };
}

/** The limit of each kind of calls. */
function limitsOf(rates: Rates, elapsed: () => number): Readonly<Record<CallKind, CallerLimit>> {
  const { createRatePerSecond, requestRatePerSecond, readRatePerSecond } = rates;
  const limit = (
    what: string,
    perSecond: number,
    rateOf: (caller: Caller) => number | null = () => null,
  ): CallerLimit => {
    const buckets = createBuckets({ subject: `This key may ${what}`, perSecond, elapsed });
    return {
      take: (caller) => buckets.take(caller.keyId, rateOf(caller)),
      giveBack: (caller) => buckets.giveBack(caller.keyId, rateOf(caller)),
      headersOf: (caller) => buckets.headersOf(caller.keyId, rateOf(caller)),
    };
  };
  // If a key has a higher create rate, its request rate is raised in the same proportion.
  const requestRateOf = ({ rates: own }: Caller) =>
    Math.ceil(requestRatePerSecond * Math.max(1, (own.createRate ?? 0) / createRatePerSecond));
  return {
    changes: limit('send or cancel tasks', requestRatePerSecond, requestRateOf),
    uploads: limit('upload files', rates.uploadRatePerSecond),
    quotes: limit('ask for quotes', rates.quoteRatePerSecond),
    reads: createCallerLimit('readRate', {
      what: 'read tasks and files',
      perSecond: readRatePerSecond,
      elapsed,
    }),
    lists: limit('ask for lists and accounts', rates.listRatePerSecond),
  };
}

const oneTask = /^\/v1\/videos?\/generations(?:\/[^/]*\/?)?$/;
const oneShaped = /^(?:\/v1\/videos|\/api\/v3\/contents\/generations\/tasks)\/[^/]+(?:\/content)?$/;
const oneFile = /^\/v1\/files\/[^/]+(?:\/content)?\/?$/;

export function kindOf({ method, path }: Pick<ApiCall, 'method' | 'path'>): CallKind {
  if (method === 'POST' && path.startsWith('/v1/files')) return 'uploads';
  if (method === 'POST') return path.startsWith('/v1/videos/quotes') ? 'quotes' : 'changes';
  if (method === 'DELETE') return 'changes';
  return oneTask.test(path) || oneShaped.test(path) || oneFile.test(path) ? 'reads' : 'lists';
}
