// Texts that somebody else wrote.

import { html } from './preact.js';

const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

export const printable = (text) => String(text ?? '').replace(unprintable, ' ');

/** A text that a customer, a provider or a receiver chose. It cannot change what surrounds it. */
export function Foreign({ text }) {
  return html`<bdi>${printable(text)}</bdi>`;
}
