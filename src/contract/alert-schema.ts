// zod schemas of the alerts of an account.

import { z } from 'zod';
import type { Field } from './field';
import { amount } from './model-schema';
import { budgetPeriods, callbackStates } from './vocabulary';
import { alertEvents } from './webhook-schema';

export const belowField = {
  schema: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/)
    .meta({
      example: '20.00',
      description: 'An available amount below this one is announced. Null: never.',
    }),
  wanted: 'must be an amount such as "20.00", or null for no alert',
} satisfies Field;

export const alertRequestSchema = z
  .strictObject({ below: belowField.schema.nullable() })
  .meta({ id: 'AlertRequest' });

const balanceData = z.strictObject({ available: amount, below: amount, currency: z.string() });
const budgetData = z.strictObject({
  key_id: z.string().nullable().meta({ description: 'Null: the budget of the account.' }),
  period: z.enum(budgetPeriods),
  limit: amount,
  spent: amount,
  held: amount,
  currency: z.string(),
});
const data = z.union([balanceData, budgetData]);

const whose = { account_id: z.string() };
/** The body of a message. */
export const alertMessageSchema = z.strictObject({
  type: z.enum(alertEvents),
  timestamp: z.iso.datetime(),
  data: z.union([balanceData.extend(whose), budgetData.extend(whose)]),
});

export const alertsSchema = z
  .strictObject({
    below: amount.nullable(),
    data: z.array(
      z
        .strictObject({
          id: z.string(),
          type: z.enum(alertEvents),
          created_at: z.int().meta({ description: 'Unix seconds.' }),
          state: z.enum(callbackStates),
          attempts: z.int(),
          status: z.int().nullable().meta({ description: 'What the receiver answered last.' }),
          error: z.string().nullable(),
          data,
        })
        .meta({ id: 'Alert' }),
    ),
  })
  .meta({ id: 'Alerts' });
