// Small drawings: a rectangle with a given ratio, and the animation that runs while a video is
// made.

import { html } from './preact.js';

export function Frame({ ratio }) {
  const [across, down] = ratio === 'adaptive' ? [1, 1] : ratio.split(':').map(Number);
  const scale = 16 / Math.max(across, down);
  const [width, height] = [across * scale, down * scale];
  return html`
    <svg class="frame" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect
        class=${ratio === 'adaptive' ? 'dashed' : ''}
        x=${10 - width / 2} y=${10 - height / 2} width=${width} height=${height} rx="1.5"
      />
    </svg>
  `;
}

/** Film frames that pass by while the video is made. The text says how long that has taken so far. */
export function Leader({ text, label }) {
  return html`
    <svg class="leader" viewBox="0 0 320 180" preserveAspectRatio="xMidYMid slice" role="img"
      aria-label=${label}>
      <rect class="ground" width="320" height="180" />
      <g class="film">
        ${[0, 1, 2, 3, 4, 5].map(
          (at) => html`<rect key=${at} x=${at * 80 - 68} y="52" width="56" height="40" rx="3" />`,
        )}
      </g>
      <path class="cross" d="M0 40h320M0 104h320" />
      <text x="160" y="136">${text}</text>
    </svg>
  `;
}
