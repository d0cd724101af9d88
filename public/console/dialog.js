// Dialogs: a button that opens a form, asks why if the act is logged with a reason, repeats in words what
// it will do if that moves money, and shows what came of it. One form is sent once, however often
// somebody clicks or presses Enter.

import { CopyButton, Select, Text } from '../controls.js';
import { html, useRef, useState } from '../preact.js';
import { Foreign } from './parts.js';

const whyField = { name: 'why', label: 'Why', hint: 'for the log of operators', isRequired: true };

/**
 * `fields`: `{ name, label, hint, value, options, isRequired, type }`; a function makes them when the
 * form opens. `act(values)` throws if it is refused; what it returns is shown. `confirm(values)`
 * returns what the second step says.
 */
export function FormDialog({ title, label, fields = [], asksWhy, isDanger, note, ...acts }) {
  const dialog = useRef(null);
  // What was asked when the form was opened. A new form begins anew.
  const [form, setForm] = useState(null);
  const open = () => {
    const asked = typeof fields === 'function' ? fields() : fields;
    setForm({ fields: asksWhy ? [...asked, whyField] : asked, number: Date.now() });
    dialog.current.showModal();
  };
  return html`
    <button type="button" class=${isDanger ? 'danger' : 'button'} onClick=${open}>${label}</button>
    <dialog ref=${dialog} aria-label=${title} onClose=${() => setForm(null)}>
      ${
        form &&
        html`<${Form} key=${form.number} ...${{ title, label, note, ...acts }} fields=${form.fields}
          close=${() => dialog.current?.close()} />`
      }
    </dialog>
  `;
}

// Preact calls these when the element is made. The dialog is open before it has a form.
const focusOnce = (element) => element?.focus();
const focusField = (form) => form?.querySelector('input, select')?.focus();

function Form({ title, label, fields, note, act, confirm, close }) {
  const [values, setValues] = useState(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  );
  const [state, setState] = useState({ step: 'form' });
  const sending = useRef(false);
  const send = async () => {
    if (sending.current) return;
    sending.current = true;
    setState(({ step }) => ({ step, isBusy: true }));
    try {
      const given = Object.entries(values).map(([name, value]) => [name, value.trim()]);
      const result = await act(Object.fromEntries(given));
      if (result) setState({ step: 'done', result });
      else close();
    } catch (error) {
      const known = fields.some(({ name }) => name === error.param);
      setState({ step: known ? 'form' : state.step, fault: error.message, param: error.param });
    }
    sending.current = false;
  };
  const submit = (event) => {
    event.preventDefault();
    const absent = fields.find(({ name, isRequired }) => isRequired && !values[name].trim());
    if (absent) {
      const fault =
        absent === whyField ? 'Say why; it goes to the log of operators.' : 'Fill this in.';
      return setState({ step: 'form', fault, param: absent.name });
    }
    if (confirm && state.step === 'form') return setState({ step: 'confirm' });
    return void send();
  };
  if (state.step === 'done') return html`<${Done} ...${{ title, close }} result=${state.result} />`;
  const isAsking = state.step === 'form';
  const isShown = isAsking && fields.some(({ name }) => name === state.param);
  return html`<form ref=${focusField} onSubmit=${submit} novalidate>
    <h2>${title}</h2>
    ${isAsking && note && html`<p class="small">${note}</p>`}
    ${
      isAsking
        ? html`<${Fields} ...${{ fields, values, setValues, state }} />`
        : html`<div ref=${focusOnce} class="stack" tabindex="-1" data-test="confirm">
            ${confirm(values)}
          </div>`
    }
    ${state.fault && !isShown && html`<p class="fault" role="alert">${state.fault}</p>`}
    <p class="actions">
      <button class="primary" disabled=${state.isBusy}>
        ${state.isBusy ? '…' : confirm && isAsking ? 'Next' : label}
      </button>
      <button type="button" class="quiet"
        onClick=${() => (isAsking ? close() : setState({ step: 'form' }))}>Back</button>
    </p>
  </form>`;
}

function Fields({ fields, values, setValues, state }) {
  return fields.map(({ name, isRequired: _required, value: _value, ...rest }) => {
    const onValue = (value) => setValues((before) => ({ ...before, [name]: value }));
    const fault = state.param === name ? state.fault : undefined;
    const shared = { name, value: values[name], onValue, fault, ...rest };
    return rest.options
      ? html`<${Select} key=${name} ...${shared} />`
      : html`<${Text} key=${name} maxlength="200" autocomplete="off" ...${shared} />`;
  });
}

function Done({ title, result, close }) {
  return html`<div class="stack">
    <h2>${title}</h2>
    <div role="status" class="stack">${result}</div>
    <p class="actions">
      <button ref=${focusOnce} type="button" class="button" onClick=${close}>Close</button>
    </p>
  </div>`;
}

/** A button that asks why, and then acts. The reason goes to the log of operators. */
export function AskWhy({ act, ...rest }) {
  return html`<${FormDialog} ...${rest} asksWhy=${true} act=${({ why }) => act(why)} />`;
}

/** Secrets that are shown once. */
export function Secrets({ rows }) {
  return html`
    <p>Copy it now: it is not shown again, and nobody can read it later.</p>
    <dl class="secrets">
      ${rows.map(
        ([name, text]) => html`<div key=${name}>
          <dt>${name}</dt>
          <dd><code><${Foreign} text=${text} /></code> <${CopyButton} text=${text} /></dd>
        </div>`,
      )}
    </dl>
  `;
}
