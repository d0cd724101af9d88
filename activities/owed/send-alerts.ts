// An alert owes its message. Unlike a callback it has no workflow: alerts are few, so this duty makes
// every attempt itself, and the row says when the next one is due. An attempt that is cut off is
// repeated when its lease ends.

import { alertBody } from '../../src/callbacks/alert.rules';
import {
  claimAlerts,
  type DueAlert,
  finishAlertAttempt,
  postponeAlert,
} from '../../src/callbacks/alerts.rows';
import { afterAttempt } from '../../src/callbacks/schedule.rules';
import type { Duty } from '../../src/owed/loop';
import { enterFor } from '../callbacks/receiver-slot';
import { type Message, postSigned } from '../callbacks/signed-post';
import type { WorkerDeps } from '../deps';

type Sender = Pick<WorkerDeps, 'db' | 'events' | 'now' | 'settings' | 'stopping' | 'hostShare'>;

export function alertDeliveries(deps: Sender): Duty<DueAlert> {
  return {
    name: 'alert',
    atOnce: 16,
    idleMs: 1_000,
    claim: claimAlerts(deps.db),
    async fulfil(alert) {
      const { id, accountId } = alert;
      const message = messageOf(alert);
      if (!message) {
        await finishAlertAttempt(deps.db, id, { ...nothing, state: 'stopped' });
        return true;
      }
      const slot = enterFor(deps, { url: message.url, accountId });
      if (slot.comeBackInMs !== undefined) await postponeAlert(deps.db, id, slot.comeBackInMs);
      else await send(deps, alert, message, slot.leave);
      // A receiver that does not answer says nothing about those of other accounts.
      return true;
    },
  };
}

/**
 * Null if the webhook was deleted, so that its messages end. A row that cannot be read ends too, because
 * it would hold up those of other accounts.
 */
function messageOf(alert: DueAlert): Message | null {
  const { id, url, secret } = alert;
  if (url === null || secret === null || !URL.canParse(url)) return null;
  try {
    return { id, url, body: alertBody(alert), secrets: [secret] };
  } catch {
    return null;
  }
}

const nothing = { status: null, error: null, nextInMs: null };

async function send(
  deps: Sender,
  alert: DueAlert,
  message: Message,
  leave: (receiverMs: number | null) => void,
): Promise<void> {
  const { id, attempts } = alert;
  const started = performance.now();
  let receiverMs: number | null = null;
  try {
    const sent = await postSigned(deps, message, {}, deps.stopping);
    receiverMs = Math.round(performance.now() - started);
    const { status, error } = sent;
    const { state, nextInMs } = afterAttempt(attempts + 1, Math.random(), sent);
    await finishAlertAttempt(deps.db, id, { state, nextInMs, status, error });
    deps.events.callbackAttempt(state === 'pending' ? 'again' : state, receiverMs, id);
  } finally {
    leave(receiverMs);
  }
}
