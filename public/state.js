// What stands on a page in the place of a value: it is awaited, refused, or not answered at the moment.

import { html } from './preact.js';

/** `lost`: why there is no answer. It is asked for again by itself. */
export function Lost({ lost, isOld }) {
  if (!lost) return null;
  return html`<p class="banner" role="alert">
    ${lost} ${isOld ? 'What you see may be old; it is' : 'It is'} tried again by itself.
  </p>`;
}

/** `of`: what is read again by itself (hooks.js). */
export function State({ of: { value, fault, lost } }) {
  return html`
    <${Lost} lost=${lost} isOld=${value !== null} />
    ${fault && html`<p class="fault" role="alert">${fault.message}</p>`}
    ${value === null && !fault && html`<p class="boot">Loading…</p>`}
  `;
}
