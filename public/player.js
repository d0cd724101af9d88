// The player. It shows an animation while the video is made, then the video, or the reason why
// there is none.

import { Film } from './film.js';
import { span } from './format.js';
import { useNow } from './hooks.js';
import { html } from './preact.js';
import { Leader } from './svg.js';

export function Screen({ task }) {
  if (task.status === 'failed') {
    return html`<div class="screen ended" role="alert">
      <p class="stamp">${wasCancelled(task) ? 'Cancelled' : 'Failed'}</p>
      <p class="reason">${task.error.message}</p>
      <p class="small"><code>${task.error.code}</code> · nothing was charged</p>
    </div>`;
  }
  if (task.status === 'succeeded') return html`<${Film} video=${task.data[0]} />`;
  return html`<${Waiting} task=${task} />`;
}

// The API uses the code `task_error` for every failure that it decides itself. Only this message,
// which is part of the API's contract, identifies a cancelled task.
const cancelledSentence = 'The task was cancelled by the caller.';

function wasCancelled({ error: { code, message } }) {
  return code === 'task_error' && message === cancelledSentence;
}

function Waiting({ task }) {
  const now = useNow();
  const elapsed = Math.max(0, Math.floor(now / 1000 - task.created_at));
  return html`<div class="screen">
    <${Leader} text=${`${span(elapsed)} so far`} label=${`${task.message} ${span(elapsed)}`} />
    <p class="caption" role="status">${task.message}</p>
  </div>`;
}
