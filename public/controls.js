// The controls of the form. Each field contains a native control, so that keyboard, screen reader
// and autofill work. A fault of the field is shown below the control.

import { useOnce } from './hooks.js';
import { html, newId, useState } from './preact.js';

function useIds() {
  return useState(() => ({ field: newId('field'), fault: newId('fault') }))[0];
}

function Fault({ id, text }) {
  return text ? html`<p class="fault" id=${id}>${text}</p>` : null;
}

export function Text({ label, name, value, onValue, fault, hint, rows, ...rest }) {
  const ids = useIds();
  const shared = {
    id: ids.field,
    name,
    value,
    onInput: (event) => onValue(event.currentTarget.value),
    'aria-invalid': fault ? 'true' : undefined,
    'aria-describedby': fault ? ids.fault : undefined,
    ...rest,
  };
  return html`
    <div class="field">
      <label for=${ids.field}>${label}${hint && html`<span class="hint">${hint}</span>`}</label>
      ${rows ? html`<textarea rows=${rows} ...${shared}></textarea>` : html`<input ...${shared} />`}
      <${Fault} id=${ids.fault} text=${fault} />
    </div>
  `;
}

export function Select({ label, name, value, options, onValue, fault, hint }) {
  const ids = useIds();
  return html`
    <div class="field">
      <label for=${ids.field}>${label}${hint && html`<span class="hint">${hint}</span>`}</label>
      <select
        id=${ids.field}
        name=${name}
        value=${value}
        onChange=${(event) => onValue(event.currentTarget.value)}
        aria-invalid=${fault ? 'true' : undefined}
        aria-describedby=${fault ? ids.fault : undefined}
      >
        ${options.map(
          ([id, text]) =>
            html`<option key=${id} value=${id} selected=${id === value}>${text}</option>`,
        )}
      </select>
      <${Fault} id=${ids.fault} text=${fault} />
    </div>
  `;
}

/** A choice between a few options: radio buttons that are styled as a strip. */
export function Strip({ label, name, value, options, onValue, fault, hint, note, shape }) {
  const ids = useIds();
  return html`
    <fieldset
      class=${`field strip ${shape ?? ''}`}
      aria-invalid=${fault ? 'true' : undefined}
      aria-describedby=${fault ? ids.fault : undefined}
    >
      <legend>${label}${hint && html`<span class="hint">${hint}</span>`}</legend>
      <div class="choices">
        ${options.map(
          ([id, text, picture]) => html`
            <label key=${id} class="choice">
              <input
                type="radio"
                name=${`${name}-${ids.field}`}
                data-name=${name}
                value=${id}
                checked=${id === value}
                onChange=${() => onValue(id)}
              />
              <span>${picture}${text}</span>
            </label>
          `,
        )}
      </div>
      ${note && html`<p class="small" aria-live="polite">${note}</p>`}
      <${Fault} id=${ids.fault} text=${fault} />
    </fieldset>
  `;
}

export function Toggle({ label, name, value, onValue, fault, hint }) {
  const ids = useIds();
  return html`
    <div class="field toggle">
      <label>
        <input
          type="checkbox"
          role="switch"
          name=${name}
          checked=${value}
          onChange=${(event) => onValue(event.currentTarget.checked)}
          aria-invalid=${fault ? 'true' : undefined}
          aria-describedby=${fault ? ids.fault : undefined}
        />
        <span>${label}${hint && html`<span class="hint">${hint}</span>`}</span>
      </label>
      <${Fault} id=${ids.fault} text=${fault} />
    </div>
  `;
}

/**
 * Copies `text` and confirms the copy. Outside https and localhost there is no clipboard API, so
 * `document.execCommand` is used.
 */
export function CopyButton({ text, label = 'Copy' }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    setSaid('Copied');
    setTimeout(() => setSaid(''), 1500);
  };
  return html`<button type="button" class="quiet" onClick=${copy} aria-live="polite">
    ${said || label}
  </button>`;
}

/** A choice of any number of options, `[id, title]`. */
export function Checks({ label, hint, chosen, options, onValue }) {
  const choose = (id) => (event) =>
    onValue(event.currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id));
  return html`<fieldset class="checks">
    <legend>${label}${hint && html` <span class="hint">${hint}</span>`}</legend>
    ${options.map(
      ([id, title]) => html`<label key=${id} class="check"><input type="checkbox" name=${id}
        checked=${chosen.includes(id)} onChange=${choose(id)} /> ${title}</label>`,
    )}
  </fieldset>`;
}

/** A secret that is shown once. */
export const Secret = ({ note, text }) => html`<div class="notice" role="status">
  <p>${note}</p>
  <p><code>${text}</code> <${CopyButton} text=${text} /></p>
</div>`;

/** Saves the text that `ask` returns as a file. */
export function SaveButton({ name, ask, label = 'CSV' }) {
  const [fault, setFault] = useState('');
  const [isBusy, once] = useOnce();
  const save = async () => {
    setFault('');
    try {
      const url = URL.createObjectURL(new Blob([await ask()], { type: 'text/csv' }));
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      setFault(error.message);
    }
  };
  return html`<button type="button" class="button" disabled=${isBusy} onClick=${() => once(save)}>${label}</button>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}`;
}
