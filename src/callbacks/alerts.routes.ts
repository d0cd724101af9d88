// GET of an account's alerts, and POST of the amount below which its balance is announced. Alerts go
// to the webhooks that take their events.

import { formatMicros, parseAmount } from '../accounts/amount.rules';
import { belowField } from '../contract/alert-schema';
import { oneRefusal } from '../contract/faults';
import { invalid, readField, unknownFields } from '../contract/field';
import { bodyBytesMax, readJsonBody } from '../gateway/body';
import { type KeyedContext, type KeyedRouter, Refused } from '../gateway/context';
import { shownData } from './alert.rules';
import { findAlertBelow, listAlerts, type ShownAlert, setAlertBelow } from './alerts.rows';

// Alerts are few: one for each limit and period.
const shownMax = 100;

export function alertRoutes(router: KeyedRouter): void {
  const show = async (ctx: KeyedContext): Promise<void> => {
    const { db, caller } = ctx.state;
    const below = await findAlertBelow(db, caller.accountId);
    const alerts = await listAlerts(db, caller.accountId, shownMax);
    ctx.body = { below: below === null ? null : formatMicros(below), data: alerts.map(shown) };
  };

  router.get('/v1/account/alerts', show);

  router.post('/v1/account/alerts', async (ctx) => {
    const belowMicros = readBelow(await readJsonBody(ctx.req, bodyBytesMax));
    await setAlertBelow(ctx.state.db, ctx.state.caller.accountId, belowMicros);
    await show(ctx);
  });
}

function readBelow(sent: Readonly<Record<string, unknown>>): number | null {
  const faults = unknownFields(sent, { below: belowField });
  if (sent.below === undefined) {
    const sentence = `is required; it ${belowField.wanted}.`;
    faults.push(invalid('below', sentence, 'missing_required_parameter'));
  }
  const text = readField<string>(belowField, 'below', sent.below, faults);
  if (faults.length > 0) throw new Refused(oneRefusal(faults));
  // An amount of nothing would never be announced.
  return text === undefined ? null : (parseAmount(text).micros ?? null);
}

function shown({ id, event, createdAt, state, attempts, status, error, data }: ShownAlert) {
  const created_at = Math.floor(createdAt.getTime() / 1000);
  return { id, type: event, created_at, state, attempts, status, error, data: shownData(data) };
}
