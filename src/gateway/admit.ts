// The checks of every task API call before its body is read: the key, the rate limit of this kind
// of call, and the account. To refuse a call here, the API sends at most one SQL statement: the
// look-up of a key that is not cached.

import type { Caller } from '../accounts/accounts.rows';
import { accountDisabled } from '../accounts/payment-refusals.rows';
import { isUpload } from '../files/read-upload.http';
import { limitAtOnce } from './at-once';
import { type Authenticate, addressOf } from './auth';
import { type ApiCall, type KeyedCall, Refused } from './context';
import { countMessages, type MessageKind } from './count-messages';
import type { Limits } from './limit-table';
import { type CallerLimit, createCallerLimit, showLimit } from './limits';
import type { DatabaseOf } from './shares';

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
  limits: Limits,
  elapsed: () => number,
): {
  readonly admit: Admit;
  readonly countUpload: CountUpload;
  readonly countMessage: CountMessage;
} {
  const kinds = callLimits(limits, elapsed);
  const messages = countMessages(kinds);
  const beginCall = limitAtOnce(limits, 'calls');
  const beginUpload = limitAtOnce(limits, 'uploadsAtOnce');
  const beginList = limitAtOnce(limits, 'listsAtOnce');
  const count = (ctx: ApiCall, kind: CallKind, caller: Caller): void => {
    const limited = kinds[kind].take(caller);
    if (limited) throw limited;
    showLimit(ctx, kinds[kind].headersOf(caller));
  };
  const admit: Admit = async (ctx) => {
    const caller = await authenticate(ctx.req.headers.authorization, () => addressOf(ctx));
    ctx.state.caller = caller;
    const kind = ctx.method === 'POST' && ctx.path === '/mcp' ? null : kindOf(ctx);
    if (kind) count(ctx, kind, caller);
    else messages.begin(ctx, caller);
    if (caller.accountDisabled) throw new Refused(accountDisabled);
    beginCall(ctx, caller.accountId);
    if (kind === 'lists') beginList(ctx, caller.accountId);
    if (isUpload(ctx.req)) beginUpload(ctx, caller.accountId);
    ctx.state.db = databaseOf(caller.accountId);
    return ctx as KeyedCall;
  };
  return {
    admit,
    countUpload: (ctx) => count(ctx, 'uploads', ctx.state.caller),
    countMessage(ctx, kind) {
      const { caller } = ctx.state;
      messages.countAs(ctx, caller, kind);
      if (kind === 'lists') beginList(ctx, caller.accountId);
    },
  };
}

/** The limit of each kind of calls. */
function callLimits(
  limits: Limits,
  elapsed: () => number,
): Readonly<Record<CallKind, CallerLimit>> {
  // If a key has a higher create rate, its changes are raised in the same proportion.
  const changesOf = ({ rates }: Caller) => {
    const raised = Math.max(1, (rates.createRate ?? 0) / limits.creates.perSecond);
    return Math.ceil(limits.changes.perSecond * raised);
  };
  return {
    changes: createCallerLimit('changes', limits, elapsed, { ofKey: changesOf }),
    uploads: createCallerLimit('uploads', limits, elapsed),
    quotes: createCallerLimit('quotes', limits, elapsed),
    reads: createCallerLimit('reads', limits, elapsed, {
      ofKey: ({ rates }) => rates.readRate,
      ofAccount: ({ accountRates }) => accountRates.readRate,
    }),
    lists: createCallerLimit('lists', limits, elapsed),
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
