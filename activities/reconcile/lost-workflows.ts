// Finds open tasks whose workflow is lost or stuck. Each run asks Temporal about a slice of the
// open tasks, because a run has no time for all open tasks. A task that Temporal does not know
// counts as lost and is closed. If too many tasks of a run are unknown to Temporal, the worker
// probably has a wrong Temporal address or namespace. Then no unknown task is closed until an
// operator confirms the loss.

import { isLossConfirmed, nextSlice, type OpenRow } from '../../src/db/reconcile';
import { areTooManyUnknown } from '../../src/domain/unknown-tasks';
import { type CloseDeps, closeStopped } from './close-task';
import { stateOf } from './find-workflow';
import { oneByOne } from './one-by-one';

export interface SliceDeps extends CloseDeps {
  /**
   * A percentage. If Temporal does not know a larger part of the slice, none of the unknown tasks
   * is closed.
   */
  readonly unknownPercentMax: number;
}

// 200 describe calls per run are about 3 per second. A Temporal server that also runs the tasks can
// answer about ten times as many.
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
  // The unknown tasks of the whole slice are counted before any of them is closed.
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
