// The steps of a task, with their times (steps.js).

import { clock, span } from './format.js';
import { useNow } from './hooks.js';
import { html } from './preact.js';
import { orderedTimes } from './steps.js';

const defaultLimit = 172_800;
const steps = ['submitted', 'generation', 'super_resolution', 'storing'];
const titles = {
  pending: 'Accepted',
  submitted: 'Submitted',
  generation: 'Running',
  super_resolution: 'Super-resolution',
  storing: 'Storing the video',
};

export function Timeline({ task, known, lost }) {
  const isOver = task.status === 'succeeded' || task.status === 'failed';
  const now = useNow(1000, !isOver);
  const rows = rowsOf(task, known);
  const end = isOver ? task.finished_at : Math.max(task.created_at, now / 1000);
  return html`
    <section class="card" aria-label="Timeline">
      <h2>Timeline</h2>
      <ol class="line">
        ${rows.map(
          ({ step, title, state, at }) => html`
            <li key=${step} class=${state} data-step=${step} data-state=${state}
              aria-current=${state === 'now' ? 'step' : undefined}>
              <span class="what">${title}</span>
              <span class="when">${at ?? ''}</span>
            </li>
          `,
        )}
      </ol>
      ${
        steps.some((step) => known.seen?.[step]) &&
        html`<p class="small">“seen”: when this page first saw the step.</p>`
      }
      ${
        rows.some(({ state, at }) => state === 'done' && !at) &&
        html`<p class="small">A step without a time ended before this page saw it.</p>`
      }
      <dl>
        <div><dt>${isOver ? 'Took' : 'Elapsed'}</dt><dd data-test="elapsed">
          ${span(end - task.created_at)}</dd></div>
        ${!isOver && html`<${Deadline} task=${task} known=${known} now=${now} />`}
      </dl>
      ${
        lost &&
        html`<p class="notice"
        role="status">Out of touch with the service; this may be old.</p>`
      }
    </section>
  `;
}

function Deadline({ task, known, now }) {
  // The page does not know the time limit of a task that another client created. The default limit
  // is shown for such a task.
  const limit = known.body?.metadata?.execution_expires_after ?? defaultLimit;
  const at = task.created_at + Number(limit);
  return html`<div>
    <dt>${known.body ? 'Deadline' : 'Deadline, unless another was sent'}</dt>
    <dd data-test="deadline">${clock(at)}${known.body && html`<small>in ${span(at - now / 1000)}</small>`}</dd>
  </div>`;
}

function rowsOf(task, known) {
  const seen = known.seen ?? {};
  const isEnhanced =
    known.body?.metadata?.super_resolution_config !== undefined ||
    seen.super_resolution !== undefined ||
    task.stage === 'super_resolution' ||
    task.billing?.items.some(({ kind }) => kind === 'super_resolution');
  const path = ['pending', ...steps.filter((step) => step !== 'super_resolution' || isEnhanced)];
  const current = task.stage ?? task.status;
  const position = path.indexOf(current);
  const times = orderedTimes(
    path.map((step) => seen[step]),
    task.created_at * 1000,
    task.finished_at && task.finished_at * 1000,
  );
  const rows = path.map((step, index) => ({
    step,
    title: titles[step],
    at: timeText(index, times[index]),
    state: stateOf(index, position, task, seen[step] !== undefined),
  }));
  const last = {
    step: 'end',
    title: task.status === 'failed' ? 'Failed' : 'Done',
    state: task.status === 'failed' ? 'failed' : task.status === 'succeeded' ? 'done' : 'ahead',
    at: task.finished_at && clock(task.finished_at),
  };
  // A failed task may have skipped the steps that the page did not see. These steps are left out.
  return [...rows.filter(({ state }) => state !== 'unknown'), last];
}

function timeText(index, ms) {
  if (ms === undefined) return undefined;
  return index === 0 ? clock(ms / 1000) : `seen ${clock(ms / 1000)}`;
}

function stateOf(index, position, task, wasSeen) {
  if (task.status === 'succeeded' || index === 0) return index === position ? 'now' : 'done';
  if (task.status === 'failed') return wasSeen ? 'done' : 'unknown';
  if (index === position) return 'now';
  return index < position ? 'done' : 'ahead';
}
