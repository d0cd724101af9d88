// GET of an account's keys, and POST and DELETE with a key that manages keys.

import type { Catalogue } from '../catalogue/catalogue.rules';
import type { Refusal } from '../contract/error';
import { oneRefusal } from '../contract/faults';
import { invalid, readField, unknownFields } from '../contract/field';
import { keyFields } from '../contract/key-schema';
import { bodyBytesMax, readJsonBody } from '../gateway/body';
import { type KeyedRouter, Refused, refuse } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { findKey, isKeyId, type KeyRow } from './keys.rows';
import { endOwnKey, listOwnKeys, liveKeysMax, type MadeKey, makeOwnKey } from './own-keys.rows';

// Of keys that customers make: all that live, and as many that ended.
const shownMax = 2 * liveKeysMax;

export function keyRoutes(router: KeyedRouter, { catalogue }: KeyedDeps): void {
  router.get('/v1/account/keys', async (ctx) => {
    const { db, caller } = ctx.state;
    const keys = await listOwnKeys(db, caller.accountId, shownMax);
    ctx.body = { current: caller.keyId, data: keys.map(shown) };
  });

  router.post('/v1/account/keys', async (ctx) => {
    const { db, caller } = ctx.state;
    const wanted = readKey(await readJsonBody(ctx.req, bodyBytesMax), catalogue());
    ctx.state.isMaking = true;
    const made = await makeOwnKey(db, caller.keyId, wanted);
    if (made.outcome !== 'made') return refuse(ctx, refusalsOf[made.outcome]);
    // The key is shown only here, so a fault of this read must not hide it.
    const key = await findKey(db, made.keyId).catch(() => null);
    ctx.status = 201;
    ctx.body = {
      ...(key ? shown(key) : { id: made.keyId, object: 'api_key' }),
      key: made.apiKey,
    };
  });

  router.delete('/v1/account/keys/:key_id', async (ctx) => {
    const { db, caller } = ctx.state;
    const id = String(ctx.params.key_id ?? '');
    const outcome = isKeyId(id) ? await endOwnKey(db, caller.keyId, id) : 'not_found';
    if (outcome === 'not_allowed') return refuse(ctx, refusalsOf.not_allowed);
    if (outcome === 'not_found') return refuse(ctx, notFound);
    ctx.body = { id, object: 'api_key', revoked: true };
  });
}

function readKey(sent: Readonly<Record<string, unknown>>, catalogue: Catalogue) {
  const faults = unknownFields(sent, keyFields);
  const field = <T>(name: keyof typeof keyFields) =>
    readField<T>(keyFields[name], name, sent[name], faults);
  const name = field<string>('name') ?? '';
  const models = field<string[]>('models');
  // A key that is limited to such a model could create no task.
  const unknown = models?.find((model) => !Object.hasOwn(catalogue.models, model));
  if (unknown !== undefined) faults.push(invalid('models', `there is no model "${unknown}".`));
  const expiresAt = field<number>('expires_at');
  if (faults.length > 0) throw new Refused(oneRefusal(faults));
  return {
    name: name.trim(),
    models: models ? [...new Set(models)] : null,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt * 1000),
  };
}

const seconds = (at: Date | null) => at && Math.floor(at.getTime() / 1000);

function shown(key: KeyRow) {
  return {
    id: key.keyId,
    object: 'api_key',
    name: key.name,
    last_four: key.lastFour,
    models: key.models,
    manages_keys: key.managesKeys,
    made_by: key.madeBy,
    created_at: seconds(key.createdAt),
    expires_at: seconds(key.expiresAt),
    revoked_at: seconds(key.revokedAt),
  };
}

const refusalsOf: Readonly<Record<Exclude<MadeKey['outcome'], 'made'>, Refusal>> = {
  not_allowed: {
    code: 'key_management_not_allowed',
    param: '',
    message: 'This key may not make or revoke keys. The operator can allow it.',
  },
  budget: {
    code: 'key_management_not_allowed',
    param: '',
    message:
      'This key has a budget, which keys that it makes would not share. The operator can give the budget to the account.',
  },
  too_many: {
    code: 'key_limit_reached',
    param: '',
    message: `This account has ${liveKeysMax} valid keys, or made 200 in a day, which is the limit. Revoke one first, or wait.`,
  },
  models: {
    code: 'invalid_value',
    param: 'models',
    message: 'models: must be some of the models of the key that makes it.',
  },
  expires_at: {
    code: 'invalid_value',
    param: 'expires_at',
    message:
      'expires_at: must be in the future, and not after the expiry of the key that makes it.',
  },
};
const notFound: Refusal = {
  code: 'key_not_found',
  param: 'key_id',
  message: 'There is no such key.',
};
