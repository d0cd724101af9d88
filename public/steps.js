// The times of the steps of a task that lives. The API reports when the task was accepted, by the clock
// of the server. The page adds when it first saw a step, by the clock of the browser, which may differ
// and is later than the step. So a seen time is shown only as far as the order allows.

/**
 * The times of the steps in milliseconds, in their order; undefined for a step that was not seen. No
 * time is later than that of a later step.
 */
export function orderedTimes(seen, acceptedAt) {
  const times = [acceptedAt, ...seen.slice(1)];
  let latest = Number.POSITIVE_INFINITY;
  for (let index = times.length - 1; index > 0; index -= 1) {
    if (times[index] === undefined) continue;
    latest = Math.min(latest, times[index]);
    times[index] = Math.max(acceptedAt, latest);
  }
  return times;
}
