// What jobs cost upstream, by the figures of their plans.

import type { Knex } from 'knex';
import { prepare } from '../database/prepared-statement';
import { jobCostMicros } from '../planning/cost.rules';
import { choiceOf } from '../planning/meter.rules';
import type { PlannedChoice, PlannedCost } from '../planning/plan-types.rules';
import type { JobName, JobReport } from './job.rules';

/** The costs of the jobs that have succeeded and whose plan says what they cost. */
export async function costsOf(
  db: Knex,
  changes: readonly (JobName & { readonly report: JobReport })[],
): Promise<ReadonlyMap<string, number | null>> {
  const made = changes.filter(({ report }) => report.status === 'succeeded');
  if (made.length === 0) return new Map();
  const plans = await selectCosts(db, { ids: made.map(({ taskId }) => taskId) });
  const planOf = new Map(plans.map((plan) => [plan.id, plan]));
  return new Map(
    made.map(({ taskId, kind, report }) => {
      const { channels, enhanced } = planOf.get(taskId) ?? {};
      const cost =
        kind === 'generation'
          ? channels && choiceOf(channels, report)?.cost
          : enhanced?.[report.channel ?? ''];
      return [
        nameOf({ taskId, kind }),
        cost && report.result ? jobCostMicros(cost, report.result) : null,
      ];
    }),
  );
}

/** The key of a job in the map of costs. */
export const nameOf = ({ taskId, kind }: JobName) => `${taskId} ${kind}`;

interface PlannedCosts {
  readonly id: string;
  readonly channels: readonly PlannedChoice[] | null;
  readonly enhanced: Readonly<Record<string, PlannedCost>> | null;
}

const selectCosts = prepare<PlannedCosts>(
  'planned_costs',
  `select id, plan->'channels' as channels, plan->'enhancement'->'costs' as enhanced
     from tasks where id = any(cast(:ids as text[]))`,
);
