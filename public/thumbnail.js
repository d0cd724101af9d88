// A small picture of an image or a video, or a symbol for a sound.

import { html } from './preact.js';

export function Thumbnail({ kind, url }) {
  if (kind === 'image') return html`<img class="thumb" src=${url} alt="" loading="lazy" />`;
  if (kind === 'video') {
    return html`<video class="thumb" src=${`${url}#t=1`} muted playsinline preload="metadata"
      tabindex="-1" aria-hidden="true"></video>`;
  }
  return html`<span class="thumb sound" aria-hidden="true">♪</span>`;
}
