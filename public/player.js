// The player. It shows an animation while the video is made, then the video, or the reason why
// there is none.

import { span } from './format.js';
import { useNow } from './hooks.js';
import { html, useState } from './preact.js';
import { Leader } from './svg.js';

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

export const reasons = {
  deleted: 'it was deleted',
  expired: 'its time is over',
  lost: 'it could not be fetched from the generator in time',
  removed_by_operator: 'the operator removed it',
};

function Film({ task }) {
  const [isGone, setGone] = useState(false);
  const [{ last_frame_url: lastFrame, url, url_gone_reason: reason }] = task.data;
  if (reason) {
    return html`<div class="screen ended">
      <p class="stamp">Gone</p>
      <p class="reason">The video is not kept any more: ${reasons[reason] ?? reason}.</p>
    </div>`;
  }
  if (isGone) {
    return html`<div class="screen ended">
      <p class="stamp">Not loaded</p>
      <p class="reason">The video cannot be loaded. Its link may be over, or the service away.</p>
      <p><a href=${url}>${url}</a></p>
      <p><button type="button" class="button" onClick=${() => setGone(false)}>Try again</button></p>
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
