// A part of a page that is read by itself, so that one part that fails hides no other.

import { useRead } from '../../hooks.js';
import { html } from '../../preact.js';
import { isPaused } from '../keyboard.js';
import { State } from '../parts.js';

/** `everyMs`: null for what costs much to read: it is read again only after an act. */
export function Part({ title, api, path, children, actions, everyMs = 30_000 }) {
  const part = useRead(api, path, everyMs, isPaused);
  return html`<section class="card" aria-label=${title}>
    <div class="head"><h2>${title}</h2>${actions?.(part.refresh)}</div>
    <${State} of=${part} />
    ${part.value && children(part.value.data, part.refresh)}
  </section>`;
}
