// The steps of a task. An ended task says how long each part took. While it lives, the page shows when it
// saw each step (steps.js).

import { clock, span } from './format.js';
import { useNow } from './hooks.js';
import { html } from './preact.js';
import { orderedTimes } from './steps.js';

const defaultLimit = 172_800;
const steps = ['submitted', 'generation', 'super_resolution', 'storing'];
/** The parts of `timings`, and the step that each of them is. */
const parts = [
  ['queued', 'pending'],
  ['placed', 'submitted'],
  ['generated', 'generation'],
  ['enhanced', 'super_resolution'],
  ['stored', 'storing'],
];
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
  const rows = isOver ? storedRows(task) : seenRows(task, known);
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
        !isOver &&
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

/** The parts of an ended task, each with its beginning and its length, as the service stored them. */
function storedRows({ created_at: createdAt, finished_at: finishedAt, status, timings }) {
  let at = createdAt;
  const rows = parts
    .filter(([part]) => timings[part] !== undefined)
    .map(([part, step]) => {
      const row = { step, title: titles[step], state: 'done' };
      const shown = `${clock(at)} · ${took(timings[part])}`;
      at += timings[part];
      return { ...row, at: shown };
    });
  const end =
    status === 'failed' ? { title: 'Failed', state: 'failed' } : { title: 'Done', state: 'done' };
  return [...rows, { step: 'end', ...end, at: clock(finishedAt) }];
}

const took = (seconds) => (seconds < 10 ? `${seconds.toFixed(1)} s` : span(seconds));

/** The steps of a task that lives. The API does not say when each began. */
function seenRows(task, known) {
  const seen = known.seen ?? {};
  const isEnhanced =
    known.body?.metadata?.super_resolution_config !== undefined ||
    seen.super_resolution !== undefined ||
    task.stage === 'super_resolution';
  const path = ['pending', ...steps.filter((step) => step !== 'super_resolution' || isEnhanced)];
  const position = path.indexOf(task.stage ?? task.status);
  const times = orderedTimes(
    path.map((step) => seen[step]),
    task.created_at * 1000,
  );
  const rows = path.map((step, index) => ({
    step,
    title: titles[step],
    at: timeText(index, times[index]),
    state: index === position ? 'now' : index < position ? 'done' : 'ahead',
  }));
  return [...rows, { step: 'end', title: 'Done', state: 'ahead' }];
}

function timeText(index, ms) {
  if (ms === undefined) return undefined;
  return index === 0 ? clock(ms / 1000) : `seen ${clock(ms / 1000)}`;
}
