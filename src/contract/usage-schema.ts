// zod schemas of the replies about usage: reports, and the summary of a month.

import { z } from 'zod';
import { amount } from './model-schema';
import { billingKinds } from './vocabulary';

/** What a caller may ask a report by. Channels and costs are the operator's. */
export const usageNames = ['day', 'week', 'month', 'model', 'key', 'kind'] as const;

const day = z.iso.date();
const figures = {
  tasks: z.int().meta({ description: 'Tasks that ended.' }),
  failed: z.int().meta({ description: 'Those of them that failed.' }),
  seconds: z.number().meta({ description: 'The length of the videos.' }),
  charged: amount,
};
const zone = z.string().meta({
  example: 'Europe/Berlin',
  description: 'The days and months begin at midnight in this time zone.',
});

const usageTotal = z
  .strictObject({
    ...figures,
    corrected: amount.meta({ description: 'What corrections of tasks gave back.' }),
  })
  .meta({ id: 'UsageTotal' });

export const usageSchema = z
  .strictObject({
    first_day: day,
    last_day: day,
    time_zone: zone,
    currency: z.string(),
    by: z.array(z.enum(usageNames)),
    data: z.array(
      z
        .strictObject({
          day: day.optional(),
          week: day.optional().meta({ description: 'The first day of the week, a Monday.' }),
          month: z.string().optional(),
          model: z.string().optional(),
          key: z.string().optional().meta({ description: 'The id of the key.' }),
          kind: z.enum(billingKinds).optional(),
          ...usageTotal.shape,
        })
        .meta({ id: 'Usage' }),
    ),
    total: usageTotal,
  })
  .meta({ id: 'UsageReport' });

export const summarySchema = z
  .strictObject({
    month: z.string(),
    time_zone: zone,
    complete: z.boolean().meta({ description: 'False while the month goes on.' }),
    currency: z.string(),
    opening_balance: amount.meta({
      description: 'The available and the held amount together, as the month began.',
    }),
    credits: amount,
    corrections: amount,
    charged: amount,
    closing_balance: amount.meta({
      description: 'The opening balance with credits and corrections, without what was charged.',
    }),
    lines: z.array(
      z
        .strictObject({ model: z.string(), key: z.string(), ...figures })
        .meta({ id: 'SummaryLine' }),
    ),
  })
  .meta({ id: 'MonthSummary' });
