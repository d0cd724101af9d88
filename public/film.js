// The video of a task and its last frame, or the reason why there is none, for both pages.

import { html, useState } from './preact.js';

export const reasons = {
  deleted: 'it was deleted',
  expired: 'its time is over',
  lost: 'it could not be fetched from the generator in time',
  removed_by_operator: 'the operator removed it',
};

/** `video`: one of the `data` of a task. */
export function Film({ video, preload = 'auto' }) {
  const [isGone, setGone] = useState(false);
  const { last_frame_url: lastFrame, url, url_gone_reason: reason } = video;
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
        src=${url}
        poster=${lastFrame}
        controls
        playsinline
        preload=${preload}
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
