// The page with the form for a new task. The fields depend on the chosen model. The price and the
// request as code are shown beside the form.

import { CodePanel } from './code-panel.js';
import { Compare, tookText, useTook } from './compare.js';
import { Select, Strip, Text } from './controls.js';
import { useAttempt } from './create-attempt.js';
import { spread } from './faults.js';
import { inputNames, inputNote, money } from './format.js';
import { go } from './hooks.js';
import { MediaField } from './media.js';
import { Enhance, enhanceNames, More, moreNames, Options, optionNames } from './options.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from './preact.js';
import { Quote, useQuote } from './quote.js';
import { emptyDraft, fitDraft, isDraft, mediaOf, missingOf, requestOf } from './request.js';
import { recall, remember } from './session.js';
import { Frame } from './svg.js';

const prompts = [
  'A paper boat sails down a rainy street, low camera, evening light',
  'A lighthouse at dusk, waves rolling in, slow aerial shot',
  'Snow falling on quiet mountains, a lone fox crosses the frame',
];

export function ComposePage({ api, around, account, models, uploads }) {
  const [draft, setDraft] = useState(() => startDraft(models));
  const form = useRef(null);
  const isGone = useRef(false);
  // The task is not sent without the files of its uploads.
  const isUploading = uploads.uploading > 0;
  const model = models.find(({ id }) => id === draft.model) ?? models[0];
  const sending = useSending({ api, draft, model, account, form, isUploading });
  const { attempt, asked, faults } = sending;
  /**
   * Changes the draft. `more` is an object with the new fields, or a function that returns this
   * object from the current draft. An upload passes a function, because the draft may change during
   * the upload.
   */
  const change = (more) => {
    const changed = (now) => {
      const next = { ...now, ...(typeof more === 'function' ? more(now) : more) };
      return fitDraft(next, models.find(({ id }) => id === next.model) ?? models[0]);
    };
    // An upload may end after the user has left this view, and returned. Then the stored draft gets
    // its file, and this view as it is now reads the draft again.
    if (isGone.current) {
      remember('draft', changed(startDraft(models)));
      return dispatchEvent(new Event('draft'));
    }
    setDraft(changed);
    return sending.changed();
  };
  // In the layout: a view that is left at once has no other effects.
  useLayoutEffect(() => remember('draft', draft), [draft]);
  useEffect(() => {
    const read = () => setDraft(startDraft(models));
    addEventListener('draft', read);
    return () => {
      isGone.current = true;
      removeEventListener('draft', read);
    };
  }, []);
  const onKeyDown = (event) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) sending.submit(event);
  };
  const shared = { draft, model, change, faults };
  return html`
    <main class="compose">
      <form class="sheet" ref=${form} onSubmit=${sending.submit} onKeyDown=${onKeyDown} novalidate>
        <h1>Create a video</h1>
        <${Basics} ...${shared} api=${api} models=${models} samples=${around.samples}
          onUpload=${uploads.onUpload} />
        <${Shape} ...${shared} />
        <${Options} ...${shared} />
        ${model.features.super_resolution && html`<${Enhance} ...${shared} />`}
        <${More} ...${shared} />
        <div class="act">
          ${
            sending.rest.length > 0 &&
            html`<p class="fault" role="alert">
            ${sending.rest.join('\n')}</p>`
          }
          <${Send} attempt=${attempt} quote=${asked.quote} disabled=${sending.isWrong}
            isUploading=${isUploading} />
        </div>
      </form>
      <aside>
        <${Quote} ...${asked} account=${account} />
        <${CodePanel} body=${sending.body} />
      </aside>
    </main>
  `;
}

/**
 * Returns the request of the draft, its price, its faults by field, and the function that sends it.
 */
function useSending({ api, draft, model, account, form, isUploading }) {
  const { body, faults: own } = requestOf(draft, model);
  const missing = missingOf(draft, model);
  const isWrong = Object.keys(own).length > 0;
  /** The number of times that the user has sent the form since the last change of the form. */
  const [tries, setTries] = useState(0);
  const attempt = useAttempt(api, (task) => {
    account.refresh();
    go('tasks', task.id);
  });
  const asked = useQuote(api, body);
  const fault = attempt.fault ?? asked.fault;
  const { fields, rest } = fault ? spread(fault, namesOf(draft, model)) : { fields: {}, rest: [] };
  const isSent = tries > 0 || attempt.fault;
  // A layout effect moves the focus in the moment in which the fault appears.
  useLayoutEffect(() => {
    if (isSent) form.current?.querySelector('[aria-invalid=true]')?.focus();
  }, [tries, attempt.fault]);
  return {
    ...{ body, attempt, asked, rest, isWrong },
    faults: { ...(isSent ? { ...fields, ...missing } : early(fields, body)), ...own },
    changed() {
      attempt.clearFault();
      setTries(0);
    },
    submit(event) {
      event.preventDefault();
      const isBusy = attempt.state === 'sending' || attempt.state === 'waiting';
      if (isWrong || isUploading || isBusy) return;
      setTries(tries + 1);
      if (Object.keys(missing).length === 0) attempt.create(body, draft);
    },
  };
}

/**
 * Returns the faults that are shown before the user sends the form. The prompt and the inputs show no
 * fault while they are empty, because the user may still fill them in. The input type `first_last_frame` needs
 * two images or more. While there is only one, the field `images` shows only the faults of this
 * image.
 */
function early(fields, body) {
  const isOneFrame = body.input_type === 'first_last_frame' && body.images?.length === 1;
  const shown = Object.entries(fields).map(([name, text]) => {
    const lines = text.split('\n');
    const isOpen = name === 'images' && isOneFrame;
    return [name, (isOpen ? lines.filter((line) => line.startsWith('images[')) : lines).join('\n')];
  });
  const isToCome = (name) => toFill.includes(name) && !body[name]?.length;
  return Object.fromEntries(shown.filter(([name, text]) => text && !isToCome(name)));
}

const toFill = ['prompt', 'images', 'videos', 'audios'];

function startDraft(models) {
  const kept = { ...emptyDraft, ...recall('draft', {}) };
  return fitDraft(kept, models.find(({ id }) => id === kept.model) ?? models[0]);
}

/**
 * Returns the names of the fields on the page. The faults of all other fields are shown above the
 * button.
 */
function namesOf(draft, model) {
  return [
    ...['model', 'prompt', 'mode', 'input_type', 'resolution', 'ratio', 'duration'],
    ...mediaOf(draft, model).map(({ name }) => name),
    ...optionNames,
    ...(draft.enhance.on ? enhanceNames : []),
    ...moreNames,
  ];
}

function Basics({ api, draft, model, models, change, faults, samples, onUpload }) {
  const modes = [['', 'Default'], ...model.features.modes.map((mode) => [mode, mode])];
  const took = useTook(api);
  const [idea] = useState(() => prompts[Math.floor(Date.now() / 1000) % prompts.length]);
  return html`
    <${Text} label="Prompt" name="prompt" rows="4" value=${draft.prompt} fault=${faults.prompt}
      placeholder=${idea} onValue=${(prompt) => change({ prompt })} />
    ${
      !draft.prompt &&
      html`<button type="button" class="quiet idea"
      onClick=${() => change({ prompt: idea })}>Use this idea</button>`
    }
    <div class="pairs">
      <${Select} label="Model" name="model" value=${draft.model} fault=${faults.model}
        options=${models.map(({ id }) => [id, id])} onValue=${(id) => change({ model: id })} />
      ${
        modes.length > 1 &&
        html`<${Strip} label="Mode" name="mode" value=${draft.mode} options=${modes}
          note=${`Default is ${draft.model} itself. The others are variants with their own price.`}
          fault=${faults.mode} onValue=${(mode) => change({ mode })} />`
      }
    </div>
    <p class="small">${tookText(took.get(draft.model))}</p>
    <${Compare} ...${{ models, took }} chosen=${draft.model}
      onChoose=${(id) => change({ model: id })} />
    <${Strip} label="Made from" name="input_type" value=${draft.inputType}
      fault=${faults.input_type}
      options=${model.inputs.types.map((type) => [type, inputNames[type]])}
      note=${inputNote(draft.inputType, model.inputs)}
      onValue=${(inputType) => change({ inputType })} />
    ${mediaOf(draft, model).map(
      (slot) => html`<${MediaField} key=${slot.name} api=${api} slot=${slot} draft=${draft}
        samples=${samples} urls=${draft[slot.name]} fault=${faults[slot.name]} onUpload=${onUpload}
        onUrls=${(next) => change((now) => ({ [slot.name]: next(now[slot.name]) }))} />`,
    )}
  `;
}

function Shape({ draft, model, change, faults }) {
  const { defaults, durations } = model;
  const tiers = isDraft(draft, model) ? ['480p'] : model.resolutions;
  const tier = tiers.length === 1 ? tiers[0] : draft.resolution || defaults.resolution;
  const size = model.sizes[tier]?.[draft.ratio || defaults.ratio];
  const seconds = draft.duration === '-1' ? '' : draft.duration || String(defaults.duration);
  return html`
    <${Strip} label="Ratio" name="ratio" shape="frames" value=${draft.ratio || defaults.ratio}
      hint=${size ? size.replace('x', ' × ') : ''} fault=${faults.ratio}
      options=${model.ratios.map((ratio) => [ratio, ratio, html`<${Frame} ratio=${ratio} />`])}
      onValue=${(ratio) => change({ ratio })} />
    <${Strip} label="Resolution" name="resolution" value=${tier}
      hint=${isDraft(draft, model) ? 'a draft is always 480p' : ''} fault=${faults.resolution}
      options=${tiers.map((one) => [one, one])}
      onValue=${(resolution) => change({ resolution })} />
    <${Length} seconds=${seconds} durations=${durations} fault=${faults.duration}
      onValue=${(duration) => change({ duration })} fallback=${String(defaults.duration)} />
  `;
}

function Length({ seconds, durations, fault, onValue, fallback }) {
  return html`
    <fieldset class="field length">
      <legend>Length <span class="hint">${seconds ? `${seconds} s` : 'the model picks'}</span>
        </legend>
      <div class="row">
        <input type="range" aria-label="Seconds" name="duration" min=${durations.min}
          max=${durations.max}
          value=${seconds || fallback} disabled=${!seconds}
            aria-invalid=${fault ? 'true' : undefined}
          onInput=${(event) => onValue(event.currentTarget.value)} />
        ${
          durations.auto &&
          html`<label class="check"><input type="checkbox" checked=${!seconds}
            onChange=${({ currentTarget }) => onValue(currentTarget.checked ? '-1' : fallback)} />
            Auto</label>`
        }
      </div>
      ${fault && html`<p class="fault">${fault}</p>`}
    </fieldset>
  `;
}

function Send({ attempt, quote, disabled, isUploading }) {
  if (attempt.state === 'waiting') {
    return html`
      <p class="notice" role="alert">
        The service has not answered. The same request is sent again until it does; it makes one
        task only.
      </p>
      <button key="stop" type="button" class="quiet" onClick=${attempt.stop}>Stop trying</button>
    `;
  }
  // The keys keep the two buttons apart: a click on the first one must not send the form.
  return html`
    ${
      attempt.state === 'stopped' &&
      html`<p class="notice" role="status">
        A task may have been made. Look under <a href="#/tasks">Tasks</a> before you create it again.
      </p>`
    }
    <button key="create" class="primary"
      disabled=${disabled || isUploading || attempt.state === 'sending'}>
      ${isUploading ? 'Uploading…' : attempt.state === 'sending' ? 'Creating…' : 'Create video'}
      ${quote && html`<span class="price">${money(quote.hold, quote.currency)}</span>`}
    </button>
  `;
}
