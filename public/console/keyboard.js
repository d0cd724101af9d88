// Keys of the whole page: pages, rows, and pausing what is read again by itself. Nothing here is needed:
// each page can be used with Tab and Enter. The search box has its own key.

import { html, useEffect, useRef, useState } from '../preact.js';

const keys = [
  ['/', 'search'],
  ['g t', 'tasks'],
  ['g c', 'customers'],
  ['g u', 'usage'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['p', 'pause, and go on'],
  ['?', 'this help'],
];

const pages = { t: 'tasks', c: 'customers', u: 'usage' };
const togetherMs = 1_500;

let paused = false;

/** True while lists are not read again by themselves: nobody looks, or the reader paused them. */
export const isPaused = () => paused || document.hidden;

export function Keyboard() {
  const dialog = useRef(null);
  const [isOff, setOff] = useState(paused);
  useEffect(() => {
    let leaderAt = 0;
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const { key } = event;
      if (Date.now() - leaderAt < togetherMs && Object.hasOwn(pages, key)) {
        location.hash = `#/${pages[key]}`;
      } else if (key === 'j' || key === 'k') focusRow(key === 'j' ? 1 : -1);
      else if (key === '?') dialog.current.showModal();
      else if (key === 'p') {
        paused = !paused;
        setOff(paused);
      }
      leaderAt = key === 'g' ? Date.now() : 0;
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return html`
    ${isOff && html`<p class="paused" role="status">Paused: nothing is read again until you press p.</p>`}
    <dialog ref=${dialog} aria-label="Keys">
      <form method="dialog">
        <h2>Keys</h2>
        <dl class="facts">
          ${keys.map(
            ([key, what]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`,
          )}
        </dl>
        <p class="actions"><button class="button">Close</button></p>
      </form>
    </dialog>
  `;
}

const isTyped = (target) =>
  target instanceof HTMLElement && target.closest('input, select, textarea') !== null;

/** Moves the focus between the first links of the rows. */
function focusRow(step) {
  const links = [...document.querySelectorAll('main tbody tr')].flatMap(
    (row) => row.querySelector('a') ?? [],
  );
  const row = document.activeElement?.closest('tr');
  const at = links.findIndex((link) => row?.contains(link));
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
}
