// Finds open tasks whose workflow is lost or stuck. Each run asks Temporal about a slice of the
// open tasks, because all of them would be too many for one run. A task that Temporal does not know
// counts as lost and is closed. If too many tasks of a run are unknown, the worker probably has a
// wrong Temporal address or namespace: none of them is closed until an operator confirms the loss.

import { isLossConfirmed, nextSlice, type OpenRow } from '../../src/db/reconcile';
import { areTooManyUnknown } from '../../src/domain/unknown-tasks';
import { type CloseDeps, closeStopped } from './close-task';
import { stateOf } from './find-workflow';
import { oneByOne } from './one-by-one';

export interface SliceDeps extends CloseDeps {
  /**
   * In per cent. If a larger share of the slice is unknown, none of the unknown tasks is closed.
   */
  readonly unknownPercentMax: number;
}

// 200 describe calls per run are about 3 a second. That is a tenth of what one Temporal server
// answers beside its work.
const sliceSize = 200;

/** Returns the number of checked tasks, the ids of closed tasks and the ids of stuck tasks. */
export async function checkSlice(
  deps: SliceDeps,
): Promise<{ checked: number; closed: string[]; stuck: string[] }> {
  const slice = await nextSlice(deps.db, sliceSize);
  const states = new Map<string, Awaited<ReturnType<typeof stateOf>>>();
  const describe = async ({ id }: OpenRow): Promise<void> => {
    states.set(id, await stateOf(deps.client, id));
  };
  await oneByOne(slice, describe, ({ id }) => {
    deps.events.finding('stuck', id, 'its workflow could not be described');
  });
  const inState = (state: string) => slice.filter(({ id }) => states.get(id) === state);
  const stuck = inState('stuck').map(({ id }) => id);
  for (const id of stuck) deps.events.finding('stuck', id, 'its workflow tasks keep failing');
  const unknown = inState('unknown');
  // This is decided for the whole slice, before any of its tasks is closed.
  const mayClose = await mayCloseUnknown(deps, unknown.length, slice.length);
  const closed: string[] = [];
  for (const row of [...inState('ended'), ...(mayClose ? unknown : [])]) {
    if (await closeStopped(deps, row)) closed.push(row.id);
  }
  return { checked: slice.length, closed, stuck };
}

async function mayCloseUnknown(
  { db, events, unknownPercentMax }: SliceDeps,
  unknown: number,
  described: number,
): Promise<boolean> {
  if (!areTooManyUnknown({ unknown, described, percentMax: unknownPercentMax })) return true;
  if (await isLossConfirmed(db)) return true;
  const why = `Temporal does not know ${unknown} of ${described} open tasks; none of them is closed`;
  events.finding('unknown_to_temporal', '', why);
  return false;
}
