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

/**
 * An animation like the countdown at the start of old films. The number in its middle counts
 * seconds.
 */
export function Leader({ text, label }) {
  return html`
    <svg class="leader" viewBox="0 0 320 180" preserveAspectRatio="xMidYMid slice" role="img"
      aria-label=${label}>
      <rect class="ground" width="320" height="180" />
      <path class="sweep" d="M160 90V-110A200 200 0 0 1 360 90z" />
      <path class="cross" d="M0 90h320M160 0v180" />
      <circle class="ring" cx="160" cy="90" r="66" />
      <circle class="ring" cx="160" cy="90" r="56" />
      <text x="160" y="92">${text}</text>
    </svg>
  `;
}
