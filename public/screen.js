// The screen: a film leader while the film is made, the film when it is there, the reason when
// there will be none.

import { span } from './format.js';
import { Leader } from './frame.js';
import { html, useState } from './ui.js';
import { useNow } from './use.js';

export function Screen({ task }) {
  if (task.status === 'failed') {
    return html`<div class="screen ended" role="alert">
      <p class="stamp">${wasCancelled(task) ? 'Cancelled' : 'Failed'}</p>
      <p class="reason">${task.error.message}</p>
      <p class="small"><code>${task.error.code}</code> · nothing was charged</p>
    </div>`;
  }
  if (task.status === 'succeeded') return html`<${Film} task=${task} />`;
  return html`<${Waiting} task=${task} />`;
}

// The API has one code for all that was decided on its side, and this sentence, which is part of
// its contract, for a task that was cancelled.
const cancelledSentence = 'The task was cancelled by the caller.';

function wasCancelled({ error: { code, message } }) {
  return code === 'task_error' && message === cancelledSentence;
}

function Waiting({ task }) {
  const now = useNow();
  const elapsed = Math.max(0, Math.floor(now / 1000 - task.created_at));
  return html`<div class="screen">
    <${Leader} text=${elapsed < 1000 ? elapsed : '…'} label=${`${task.message} ${span(elapsed)}`} />
    <p class="caption" role="status">${task.message}</p>
  </div>`;
}

function Film({ task }) {
  const [isGone, setGone] = useState(false);
  const [{ last_frame_url: lastFrame, url }] = task.data;
  if (isGone) {
    return html`<div class="screen ended">
      <p class="stamp">Gone</p>
      <p class="reason">The video cannot be loaded. Links to results die after a while.</p>
      <p><a href=${url}>${url}</a></p>
    </div>`;
  }
  return html`
    <div class="screen">
      <video
        src=${task.video_url}
        poster=${lastFrame}
        controls
        playsinline
        preload="auto"
        onError=${() => setGone(true)}
        aria-label="The video"
      ></video>
    </div>
    ${
      lastFrame &&
      html`<figure class="last">
        <a href=${lastFrame} target="_blank" rel="noopener"><img src=${lastFrame}
          alt="The last frame" /></a>
        <figcaption>Last frame</figcaption>
      </figure>`
    }
  `;
}
