// The webhooks of an account: add, list, test and delete.

import type { Refusal } from '../contract/error';
import { oneRefusal } from '../contract/faults';
import { invalid, isAbsent, readField, unknownFields } from '../contract/field';
import { taskEvents, type WebhookEvent, webhookFields } from '../contract/webhook-schema';
import { isWebhookId } from '../database/ids';
import { countAtOnce, tooMany } from '../gateway/at-once';
import { bodyBytesMax, readJsonBody } from '../gateway/body';
import type { KeyedRouter } from '../gateway/context';
import { Refused, refuse } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { checkUrl } from '../outbound/address.rules';
import {
  createWebhook,
  deleteWebhook,
  findWebhookOwner,
  listWebhooks,
  type Webhook,
} from './webhooks.rows';

const webhooksMax = 10;

export function webhookRoutes(
  router: KeyedRouter,
  { settings, limits, now, temporal, observer }: KeyedDeps,
): void {
  router.post('/v1/webhooks', async (ctx) => {
    const { db, caller } = ctx.state;
    const { accountId } = caller;
    const sent = await readJsonBody(ctx.req, bodyBytesMax);
    const wanted = readWebhook(sent, settings.dangerouslyAllowHosts);
    ctx.state.isMaking = true;
    const made = await createWebhook(db, { accountId, ...wanted, max: webhooksMax, nowMs: now() });
    if (!made) return refuse(ctx, limitReached);
    ctx.status = 201;
    ctx.body = { ...shown(made), secret: made.secret };
  });

  router.get('/v1/webhooks', async (ctx) => {
    const { db, caller } = ctx.state;
    const webhooks = await listWebhooks(db, caller.accountId);
    ctx.body = { data: webhooks.map(shown) };
  });

  const tests = countAtOnce(limits.webhookTests);
  router.post('/v1/webhooks/:webhook_id/test', async (ctx) => {
    const { db, caller } = ctx.state;
    const { accountId } = caller;
    const id = String(ctx.params.webhook_id ?? '');
    const isOwn = isWebhookId(id) && (await findWebhookOwner(db, id)) === accountId;
    if (!isOwn) return refuse(ctx, notFound);
    if (tests.enter(accountId) !== 'entered') {
      throw tooMany('account', 'webhookTests', limits.webhookTests);
    }
    const tested = await temporal
      .testWebhook(id)
      .catch((error: unknown) => {
        observer.failed(error, ctx.state);
        throw new Refused(noTest, { 'retry-after': '2' });
      })
      .finally(() => tests.leave(accountId));
    if (!tested) return refuse(ctx, notFound);
    ctx.body = tested;
  });

  router.delete('/v1/webhooks/:webhook_id', async (ctx) => {
    const id = String(ctx.params.webhook_id ?? '');
    const { db, caller } = ctx.state;
    const isDeleted = isWebhookId(id) && (await deleteWebhook(db, caller.accountId, id));
    if (!isDeleted) return refuse(ctx, notFound);
    ctx.body = { id, object: 'webhook', deleted: true };
  });
}

function readWebhook(sent: Readonly<Record<string, unknown>>, allowHosts: readonly string[]) {
  const faults = unknownFields(sent, webhookFields);
  const events = readField<WebhookEvent[]>(webhookFields.events, 'events', sent.events, faults);
  const url = readField<string>(webhookFields.url, 'url', sent.url, faults);
  const checked =
    url !== undefined && checkUrl(url, { schemes: ['https'], allowHosts, charsMax: 1024 });
  if (checked && checked.fault !== undefined) faults.push(invalid('url', checked.fault));
  if (isAbsent(sent.url)) {
    faults.push(invalid('url', 'is required.', 'missing_required_parameter'));
  }
  if (faults.length > 0 || url === undefined) throw new Refused(oneRefusal(faults));
  return { url, events: [...new Set(events ?? taskEvents)] };
}

function shown({ id, url, events, createdAt }: Webhook) {
  const seconds = Math.floor(createdAt.getTime() / 1000);
  return { id, object: 'webhook', url, events, created_at: seconds };
}

const limitReached: Refusal = {
  code: 'webhook_limit_reached',
  param: '',
  message: `This account has ${webhooksMax} webhooks, which is the limit. Delete one first.`,
};
const noTest: Refusal = {
  code: 'unavailable',
  param: '',
  message: 'The test was not run in time, so its result is not known. Try again in a few seconds.',
};
const notFound: Refusal = {
  code: 'webhook_not_found',
  param: 'webhook_id',
  message: 'There is no such webhook.',
};
