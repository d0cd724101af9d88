// Dialogs: a button that opens a form, asks why if the act is logged with a reason, repeats in words what
// it will do if that moves money, and shows what came of it. One form is sent once, however often
// somebody clicks or presses Enter. A form whose answer was lost keeps its reference.

import { Fault } from '../api.js';
import { CopyButton, Select, Text } from '../controls.js';
import { useOnce } from '../hooks.js';
import { html, useEffect, useRef, useState } from '../preact.js';
import { recall, remember } from '../session.js';
import { Foreign } from './parts.js';

/** The fields of a form that are filled in. */
export const filled = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));

/**
 * The `act` of a form of terms: sends those that differ from the form's opening. One that was emptied is
 * lifted: `none`.
 */
export const changeTerms =
  ({ api, path, refresh }) =>
  async ({ why, ...values }, opened) => {
    const changed = Object.entries(values).filter(([name, value]) => value !== opened[name]);
    if (changed.length === 0) return html`<p>Nothing was changed.</p>`;
    const terms = Object.fromEntries(changed.map(([name, value]) => [name, value || 'none']));
    await api.post(`${path}/terms`, { ...terms, why });
    refresh();
    return undefined;
  };

const whyField = { name: 'why', label: 'Why', hint: 'for the log of operators', isRequired: true };

/**
 * `fields`: `{ name, label, hint, value, options, isRequired, type }`; a function makes them when the
 * form opens. `act(values, opened)` throws if it is refused; what it returns is shown. `opened`: the
 * values with which the form opened. `confirm(values)` returns what the second step says. `keptAs`: the
 * name under which the form is kept while nobody knows if it was carried out, also over a reload. It
 * then opens with the same values, and a field with `isReference` cannot be changed.
 */
export function FormDialog({ title, label, fields = [], asksWhy, isDanger, note, ...acts }) {
  const dialog = useRef(null);
  // What was asked when the form was opened. A new form begins anew.
  const [form, setForm] = useState(null);
  const open = () => {
    const asked = typeof fields === 'function' ? fields() : fields;
    const kept = acts.keptAs && recall(acts.keptAs);
    const all = (asksWhy ? [...asked, whyField] : asked).map((field) => ({
      ...field,
      value: kept?.[field.name] ?? field.value,
    }));
    setForm({ fields: all, number: Date.now(), wasLost: Boolean(kept) });
    dialog.current.showModal();
  };
  // What is being sent, and a secret that is shown once, are not closed by a key.
  const hold = (event) => {
    if (event.key && event.key !== 'Escape') return;
    if (dialog.current?.querySelector('[aria-busy=true], .secrets')) event.preventDefault();
  };
  useEffect(() => {
    if (!form) return undefined;
    // A button that is disabled loses the focus, so the key may be pressed outside the dialog.
    addEventListener('keydown', hold);
    return () => removeEventListener('keydown', hold);
  }, [form]);
  return html`
    <button type="button" class=${isDanger ? 'danger' : 'button'} onClick=${open}>${label}</button>
    <dialog ref=${dialog} aria-label=${title} onClose=${() => setForm(null)}
      onCancel=${hold}>
      ${
        form &&
        html`<${Form} key=${form.number} ...${{ title, label, note, ...acts, ...form }}
          close=${() => dialog.current?.close()} />`
      }
    </dialog>
  `;
}

// Preact calls these when the element is made. The dialog is open before it has a form.
const focusOnce = (element) => element?.focus();
const focusField = (form) => form?.querySelector('input, select')?.focus();

const lostWords =
  'The answer was lost, so it may be recorded. Send it again with this reference: it is recorded once.';

/** Sends the form once, and keeps it while nobody knows if it was carried out. */
function useSending({ act, fields, values, opened, close, keptAs, wasLost }) {
  const [isLost, setLost] = useState(wasLost);
  const [state, setState] = useState({ step: 'form', fault: wasLost ? lostWords : undefined });
  const [isBusy, once] = useOnce();
  const faultOf = (error) => {
    if (!keptAs) return error.message;
    if (error instanceof Fault) {
      // A refusal says nothing about what was sent before it.
      if (!isLost) remember(keptAs, undefined);
      return error.message;
    }
    setLost(true);
    return `${error.message} ${lostWords}`;
  };
  const send = async () => {
    setState(({ step }) => ({ step }));
    const given = Object.entries(values).map(([name, value]) => [name, value.trim()]);
    const sent = Object.fromEntries(given);
    // Before it is sent, because the page may be left before the answer.
    if (keptAs) remember(keptAs, recall(keptAs) ?? sent);
    try {
      const result = await act(sent, opened);
      if (keptAs) remember(keptAs, undefined);
      if (result) setState({ step: 'done', result });
      else close();
    } catch (error) {
      const known = fields.some(({ name }) => name === error.param);
      const step = known ? 'form' : state.step;
      setState({ step, fault: faultOf(error), param: error.param });
    }
  };
  return { state, setState, isLost, isBusy, send: () => once(send) };
}

function Form({ title, label, fields, note, confirm, close, ...how }) {
  const opened = Object.fromEntries(fields.map(({ name, value = '' }) => [name, value]));
  const [values, setValues] = useState(opened);
  const sending = useSending({ fields, values, opened, close, ...how });
  const { state, setState, isLost, isBusy, send } = sending;
  const submit = (event) => {
    event.preventDefault();
    const absent = fields.find(({ name, isRequired }) => isRequired && !values[name].trim());
    if (absent) {
      const fault =
        absent.name === whyField.name
          ? 'Say why; it goes to the log of operators.'
          : 'Fill this in.';
      return setState({ step: 'form', fault, param: absent.name });
    }
    if (confirm && state.step === 'form') return setState({ step: 'confirm' });
    return void send();
  };
  if (state.step === 'done') return html`<${Done} ...${{ title, close }} result=${state.result} />`;
  const isAsking = state.step === 'form';
  const isShown = isAsking && fields.some(({ name }) => name === state.param);
  return html`<form ref=${focusField} onSubmit=${submit} aria-busy=${isBusy ? 'true' : undefined} novalidate>
    <h2>${title}</h2>
    ${isAsking && note && html`<p class="small">${note}</p>`}
    ${
      isAsking
        ? html`<${Fields} ...${{ fields, values, setValues, state, isLost }} />`
        : html`<div ref=${focusOnce} class="stack" tabindex="-1" data-test="confirm">
            ${confirm(values)}
          </div>`
    }
    ${state.fault && !isShown && html`<p class="fault" role="alert">${state.fault}</p>`}
    <p class="actions">
      <button class="primary" disabled=${isBusy}>
        ${isBusy ? '…' : confirm && isAsking ? 'Next' : label}
      </button>
      <button type="button" class="quiet" disabled=${isBusy}
        onClick=${() => (isAsking ? close() : setState({ step: 'form' }))}>Back</button>
    </p>
  </form>`;
}

function Fields({ fields, values, setValues, state, isLost }) {
  return fields.map(({ name, isRequired: _required, isReference, value: _value, ...rest }) => {
    const onValue = (value) => setValues((before) => ({ ...before, [name]: value }));
    const fault = state.param === name ? state.fault : undefined;
    const readonly = isReference && isLost;
    const shared = { name, value: values[name], onValue, fault, readonly, ...rest };
    return rest.options
      ? html`<${Select} key=${name} ...${shared} />`
      : html`<${Text} key=${name} maxlength="200" autocomplete="off" ...${shared} />`;
  });
}

/** A second Enter must not close what is shown once, so the button does not get the focus. */
function Done({ title, result, close }) {
  return html`<div class="stack">
    <h2>${title}</h2>
    <div ref=${focusOnce} tabindex="-1" role="status" class="stack">${result}</div>
    <p class="actions">
      <button type="button" class="button" onClick=${close}>Close</button>
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
