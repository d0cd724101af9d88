// Parts of all views: texts from outside, times, the states of a view, and the question why.

import { Text } from '../controls.js';
import { html, useEffect, useRef, useState } from '../preact.js';

const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** A text that a customer, a provider or a receiver chose. It cannot change what surrounds it. */
export function Foreign({ text }) {
  return html`<bdi>${String(text ?? '').replace(unprintable, ' ')}</bdi>`;
}

export function Time({ at }) {
  if (!at) return '–';
  return html`<time datetime=${at}>${`${at.slice(0, 10)} ${at.slice(11, 19)}`}</time>`;
}

/** Loading, refused, or null if there is a value. What is lost is shown by the banner. */
export function State({ of: { value, fault } }) {
  if (fault) return html`<p class="fault" role="alert">${fault.message}</p>`;
  return value ? null : html`<p class="boot">…</p>`;
}

export function Banner({ lost }) {
  if (!lost) return null;
  return html`<p class="banner" role="alert">
    The console does not answer at the moment. What you see may be old; it is tried again by itself.
  </p>`;
}

/** A button that asks why, and then acts. The reason goes to the log of operators. */
export function AskWhy({ title, label, act, isDanger = false }) {
  const dialog = useRef(null);
  const [why, setWhy] = useState('');
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (!why.trim()) return setFault('Say why; it goes to the log of operators.');
    setBusy(true);
    setFault('');
    try {
      await act(why.trim());
      setWhy('');
      dialog.current?.close();
    } catch (error) {
      setFault(error.message);
    }
    setBusy(false);
    return undefined;
  };
  return html`
    <button type="button" class=${isDanger ? 'danger' : 'button'}
      onClick=${() => dialog.current.showModal()}>${label}</button>
    <dialog ref=${dialog} aria-label=${title}>
      <form onSubmit=${submit} novalidate>
        <h2>${title}</h2>
        <${Text} label="Why" name="why" value=${why} onValue=${setWhy} fault=${fault}
          maxlength="200" />
        <p class="actions">
          <button class="primary" disabled=${busy}>${busy ? '…' : label}</button>
          <button type="button" class="quiet" onClick=${() => dialog.current.close()}>Back</button>
        </p>
      </form>
    </dialog>
  `;
}

export function useTitle(title) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
}
