// Counts the calls at /mcp. One path has tools of several kinds, and only the body names the tool. But
// a body is read only if its call is counted. So a call first counts as any kind with calls left.

import type { Caller } from '../accounts/accounts.rows';
import type { ApiCall, Refused } from './context';
import { type CallerLimit, showLimit } from './limits';

const kinds = ['reads', 'changes', 'quotes', 'lists'] as const;
export type MessageKind = (typeof kinds)[number];

export function countMessages(limits: Readonly<Record<MessageKind, CallerLimit>>) {
  const counted = new WeakMap<ApiCall, MessageKind>();
  return {
    /** Throws a refusal if no kind has calls left. */
    begin(ctx: ApiCall, caller: Caller): void {
      let refused: Refused | undefined;
      for (const kind of kinds) {
        const limited = limits[kind].take(caller);
        refused ??= limited ?? undefined;
        if (limited) continue;
        counted.set(ctx, kind);
        showLimit(ctx, limits[kind].headersOf(caller));
        return;
      }
      throw refused;
    },
    /** Counts the call as this kind instead. A refused call stays counted as the first kind. */
    countAs(ctx: ApiCall, caller: Caller, kind: MessageKind): void {
      const before = counted.get(ctx);
      if (before !== kind) {
        const limited = limits[kind].take(caller);
        if (limited) throw limited;
        if (before) limits[before].giveBack(caller);
        counted.set(ctx, kind);
        ctx.res.removeHeader('RateLimit-Remaining');
      }
      showLimit(ctx, limits[kind].headersOf(caller));
    },
  };
}
