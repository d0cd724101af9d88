// An alert owes its message. Unlike a callback it has no workflow: alerts are few, so this duty makes
// every attempt itself, and the row says when the next one is due. An attempt that is cut off is
// repeated when its lease ends.

import { alertBody } from '../../src/callbacks/alert.rules';
import {
  type AlertAttempt,
  claimAlerts,
  type DueAlert,
  finishAlertAttempt,
  postponeAlert,
} from '../../src/callbacks/alerts.rows';
import { nextGapMs, verdictOf } from '../../src/callbacks/schedule.rules';
import type { Duty } from '../../src/owed/loop';
import { enterFor } from '../callbacks/receiver-slot';
import { postSigned } from '../callbacks/signed-post';
import type { WorkerDeps } from '../deps';

type Sender = Pick<WorkerDeps, 'db' | 'events' | 'now' | 'settings' | 'stopping' | 'hostShare'>;

export function alertDeliveries(deps: Sender): Duty<DueAlert> {
  return {
    name: 'alert',
    atOnce: 16,
    idleMs: 1_000,
    claim: claimAlerts(deps.db),
    async fulfil(alert) {
      const { id, url, secret, accountId } = alert;
      // The webhook was deleted, so its messages end. A row that cannot be read ends too, because it
      // would hold up those of other accounts.
      if (url === null || secret === null || !isReadable(alert)) {
        await finishAlertAttempt(deps.db, id, { ...nothing, state: 'stopped' });
        return true;
      }
      const slot = enterFor(deps, { url, accountId });
      if (slot.comeBackInMs !== undefined) await postponeAlert(deps.db, id, slot.comeBackInMs);
      else await send(deps, alert, { url, secret }, slot.leave);
      // A receiver that does not answer says nothing about those of other accounts.
      return true;
    },
  };
}

function isReadable(alert: DueAlert): boolean {
  try {
    return URL.canParse(alert.url ?? '') && alertBody(alert) !== '';
  } catch {
    return false;
  }
}

const nothing = { status: null, error: null, nextInMs: null };

async function send(
  deps: Sender,
  alert: DueAlert,
  { url, secret }: { readonly url: string; readonly secret: string },
  leave: (receiverMs: number | null) => void,
): Promise<void> {
  const { id, attempts } = alert;
  const started = performance.now();
  let receiverMs: number | null = null;
  try {
    const message = { id, url, body: alertBody(alert), secrets: [secret] };
    const sent = await postSigned(deps, message, {}, deps.stopping);
    receiverMs = Math.round(performance.now() - started);
    const verdict = verdictOf(sent.status);
    const isLeft = verdict === 'again';
    const nextInMs = isLeft ? nextGapMs(attempts + 1, Math.random(), sent.retryAfterMs) : null;
    const state = isLeft ? (nextInMs === null ? 'exhausted' : 'pending') : verdict;
    const attempt: AlertAttempt = { ...{ state, nextInMs }, ...answerOf(sent) };
    await finishAlertAttempt(deps.db, id, attempt);
    deps.events.callbackAttempt(state === 'pending' ? 'again' : state, receiverMs, id);
  } finally {
    leave(receiverMs);
  }
}

const answerOf = ({ status, error }: Pick<AlertAttempt, 'status' | 'error'>) => ({ status, error });
