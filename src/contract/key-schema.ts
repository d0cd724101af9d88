// The fields of a key that a customer makes, and the schemas of the replies.

import { z } from 'zod';
import type { Field } from './field';

// The name stands in lists, so it is one line.
const oneLine = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

export const keyFields = {
  name: {
    schema: z.string().max(200).regex(oneLine).meta({ example: 'batch' }),
    wanted: 'must be a text of at most 200 characters in one line',
  },
  models: {
    schema: z.array(z.string().max(80)).max(100).meta({
      description: 'The models that it may use. Default: those of the key that makes it.',
    }),
    wanted: 'must be a list of names of models',
  },
  expires_at: {
    schema: z.int().min(0).max(99_999_999_999).meta({
      description: 'Unix seconds. Default: the expiry of the key that makes it.',
    }),
    wanted: 'must be a time in Unix seconds',
  },
} satisfies Record<string, Field>;

export const keyRequestSchema = z
  .strictObject({
    name: keyFields.name.schema.nullish(),
    models: keyFields.models.schema.nullish(),
    expires_at: keyFields.expires_at.schema.nullish(),
  })
  .meta({ id: 'KeyRequest' });

const keySchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('api_key'),
    name: z.string(),
    last_four: z.string(),
    models: z.array(z.string()).nullable().meta({ description: 'Null: all.' }),
    manages_keys: z.boolean().meta({ description: 'True if it may make and revoke keys.' }),
    made_by: z
      .string()
      .nullable()
      .meta({ description: 'The key that made it; null if the operator did.' }),
    created_at: z.int().meta({ description: 'Unix seconds.' }),
    expires_at: z.int().nullable(),
    revoked_at: z.int().nullable(),
  })
  .meta({ id: 'ApiKey' });

export const createdKeySchema = keySchema
  .extend({ key: z.string().meta({ description: 'The key itself; shown only once.' }) })
  .meta({ id: 'CreatedApiKey' });

export const keysSchema = z.strictObject({
  current: z.string().meta({ description: 'The id of the key of this call.' }),
  data: z.array(keySchema),
});

export const revokedKeySchema = z.strictObject({
  id: z.string(),
  object: z.literal('api_key'),
  revoked: z.literal(true),
});
