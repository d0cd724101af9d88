// Admin commands that list the webhooks of a customer, test one, and rotate the secret of callbacks.

import { rotateSecret } from '../../callbacks/webhook-secrets.rows';
import { findWebhookOwner, listWebhooks } from '../../callbacks/webhooks.rows';
import { includes, type OperatorRole } from '../../operators/roles.rules';
import { CommandError, notFound } from '../command';
import type { AdminCommand } from './command-line';
import { fields, table } from './tables';
import { durationOf, knownAccount } from './values';

const list: AdminCommand = {
  name: 'webhooks list',
  http: { at: 'GET /accounts/:ACCOUNT/webhooks', role: 'viewer' },
  operands: ['ACCOUNT'],
  about: 'the addresses that get the callbacks of a customer, the newest first',
  async run({ db, role }, input) {
    const { accountId } = await knownAccount(db(), input.operand('ACCOUNT'));
    const webhooks = (await listWebhooks(db(), accountId)).map((webhook) => shownTo(role, webhook));
    const data = webhooks.map(({ id: webhookId, ...webhook }) => ({ webhookId, ...webhook }));
    const text = table(data, [
      { title: 'WEBHOOK', of: ({ webhookId }) => webhookId },
      { title: 'EVENTS', of: ({ events }) => events.join(',') },
      { title: 'CREATED', of: ({ createdAt }) => createdAt },
      { title: 'ADDRESS', of: ({ url }) => url },
    ]);
    return { data, text };
  },
};

const testOne: AdminCommand = {
  name: 'webhooks test',
  http: { at: 'POST /webhooks/:WEBHOOK/test', role: 'operator' },
  operands: ['WEBHOOK'],
  changes: (input) => ({ kind: 'webhook', id: input.operand('WEBHOOK') }),
  about: 'sends a signed test message to a webhook, and shows what it answers',
  async run(context, input) {
    const webhookId = input.operand('WEBHOOK');
    const client = context.temporal();
    const none = notFound(`There is no webhook ${webhookId}. "webhooks list" shows the ids.`);
    if ((await findWebhookOwner(context.db(), webhookId)) === null) throw none;
    const asked = { data: { webhookId }, text: '', effect: 'a test message is sent next' };
    return {
      ...asked,
      async afterwards() {
        const { runWebhookTest } =
          require('../../engine/start-delivery') as typeof import('../../engine/start-delivery');
        const { temporalTaskQueue } = context.config;
        const tested = await runWebhookTest(client, temporalTaskQueue, webhookId).catch(notRun);
        if (!tested) throw none;
        const { status, latency_ms: latencyMs, error } = tested;
        const data = { webhookId, status, latencyMs, error };
        return { data, text: fields(data) };
      },
    };
  },
};

function notRun(cause: unknown): never {
  throw new CommandError(
    'The test was not run in time, so its result is not known. It needs a worker that runs.',
    1,
    { kind: 'away', cause },
  );
}

/** The new secret is shown only once. The previous secrets also sign until the overlap ends. */
const rotate: AdminCommand = {
  name: 'webhooks rotate',
  http: { at: 'POST /accounts/:ACCOUNT/secret', role: 'owner' },
  operands: ['ACCOUNT'],
  // The overlap is at most thirty days, so that a leaked secret does not sign for longer.
  options: { overlap: { value: '24h', about: 'how long the old secrets sign too, up to 30d' } },
  changes: (input) => ({ kind: 'account', id: input.operand('ACCOUNT') }),
  about: 'a new webhook secret, which is shown once',
  async run({ db, now }, input) {
    const overlapMs = durationOf(input.option('overlap') ?? '24h', 'overlap', 30);
    const { accountId } = await knownAccount(db(), input.operand('ACCOUNT'));
    const webhookSecret = await rotateSecret(db(), accountId, overlapMs);
    const oldSecretsSignUntil = new Date(now() + overlapMs);
    const data = { accountId, webhookSecret, oldSecretsSignUntil };
    const effect = `a new secret; the older ones sign until ${oldSecretsSignUntil.toISOString()}`;
    return { data, text: `${fields(data)}\n\nThe secret is not shown again.`, effect };
  },
};

export const webhookCommands = [list, testOne, rotate];

/**
 * Hides the query of the URL, because the query may contain a password. A viewer sees only the origin:
 * the path of some receivers is their password.
 */
export function shownTo<T extends { readonly url: string }>(role: OperatorRole, callback: T): T {
  const { url } = callback;
  const isHidden = !includes(role, 'operator') && url !== '';
  return { ...callback, url: isHidden ? `${new URL(url).origin}/…` : url.replace(/\?.*$/s, '?…') };
}
