// Turns a thrown error into a reply. A refusal is sent as it is. A temporary error of the database,
// and any error of the storage, becomes a 503, so that the caller tries again. Every other error is
// a bug and becomes a 500 without details. Each error except a refusal is logged here, exactly
// once. Creates answer lost answers of the database themselves.

import { isOutcomeUnknown, isRetryable } from '../database/database';
import { StorageError } from '../files/storage/storage';
import { type ApiCall, Refused, refuse } from './context';
import type { RequestObserver } from './deps';

export function answerError(ctx: ApiCall, error: unknown, observer: RequestObserver): void {
  if (error instanceof Refused) {
    refuse(ctx, error.refusal, error.headers);
    return;
  }
  observer.failed(error, ctx.state);
  if (ctx.state.isMaking && isOutcomeUnknown(error)) {
    refuse(ctx, outcomeUnknown, { 'x-should-retry': 'false' });
    return;
  }
  if (isRetryable(error) || error instanceof StorageError) {
    refuse(ctx, unavailable, { 'retry-after': '2' });
    return;
  }
  const message = `Something went wrong here. Tell us the request id ${ctx.state.requestId}.`;
  refuse(ctx, { code: 'internal_error', param: '', message });
}

const outcomeUnknown = {
  code: 'outcome_unknown',
  param: '',
  message:
    'It is not known whether this was done. Look at the list of what you have before you repeat it.',
} as const;

export const unavailable = {
  code: 'unavailable',
  param: '',
  message: 'The service cannot answer at the moment. Try again shortly.',
} as const;
