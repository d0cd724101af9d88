// Images, videos and audios of a task, chosen from the samples or entered as addresses, in an order
// that matters for frames.

import { html, newId, useState } from './preact.js';

const titles = { images: 'Images', videos: 'Videos', audios: 'Audio' };

export function MediaField({ slot, draft, urls, samples, onUrls, fault }) {
  const { name, kind, max } = slot;
  const [faultId] = useState(() => newId('fault'));
  const isFrames = draft.inputType === 'first_last_frame';
  return html`
    <fieldset class="field media" aria-describedby=${fault ? faultId : undefined}>
      <legend>
        ${isFrames ? 'Frames' : titles[name]}
        <span class="hint">${isFrames ? 'the first and the last picture' : `up to ${max}`}</span>
      </legend>
      ${
        urls.length > 0 &&
        html`<ol class="chosen">
          ${urls.map(
            (url, index) => html`<${Chosen} key=${`${index} ${url}`}
            ...${{ url, index, kind, urls, onUrls, isFrames }} />`,
          )}
        </ol>`
      }
      ${
        urls.length < max &&
        html`<div class="add">
          <${AddressInput} name=${name} kind=${kind} isWrong=${Boolean(fault)}
            onAdd=${(url) => onUrls([...urls, url])} />
          ${samples
            .filter((sample) => sample.kind === kind && !urls.includes(sample.url))
            .map(
              (sample) => html`<${SampleButton} key=${sample.url} sample=${sample}
                onAdd=${() => onUrls([...urls, sample.url])} />`,
            )}
        </div>`
      }
      ${fault && html`<p class="fault" id=${faultId}>${fault}</p>`}
    </fieldset>
  `;
}

/** An address is added on blur or with Enter, which would otherwise submit the form. */
function AddressInput({ name, kind, isWrong, onAdd }) {
  const [id] = useState(() => newId('url'));
  const [typed, setTyped] = useState('');
  const add = () => {
    if (typed.trim()) onAdd(typed.trim());
    setTyped('');
  };
  const onKeyDown = (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add();
  };
  return html`
    <label class="unseen" for=${id}>Address of ${kind}</label>
    <input
      id=${id}
      name=${name}
      type="url"
      inputmode="url"
      placeholder=${`https://… ${kind}`}
      value=${typed}
      onInput=${(event) => setTyped(event.currentTarget.value)}
      onKeyDown=${onKeyDown}
      onBlur=${add}
      aria-invalid=${isWrong ? 'true' : undefined}
    />
  `;
}

function SampleButton({ sample: { kind, name, url }, onAdd }) {
  const label = `Add the sample ${name}`;
  return html`
    <button type="button" class="sample" title=${label} aria-label=${label} onClick=${onAdd}>
      <${Thumbnail} kind=${kind} url=${url} />
    </button>
  `;
}

function Chosen({ url, index, kind, urls, onUrls, isFrames }) {
  const without = urls.filter((_, at) => at !== index);
  const earlier = () => onUrls([...without.slice(0, index - 1), url, ...without.slice(index - 1)]);
  const name = frameName(index, urls.length, isFrames);
  return html`
    <li>
      <${Thumbnail} kind=${kind} url=${url} />
      ${name && html`<span class="tag">${name}</span>`}
      <span class="address" title=${url}>${url}</span>
      ${
        index > 0 &&
        html`<button type="button" class="quiet round" aria-label=${`Move ${url} forward`}
          onClick=${earlier}>
          ↑
        </button>`
      }
      <button type="button" class="quiet round" aria-label=${`Remove ${url}`}
        onClick=${() => onUrls(without)}>
        ×
      </button>
    </li>
  `;
}

function frameName(index, length, isFrames) {
  if (!isFrames) return '';
  if (index === 0) return 'First';
  return index === length - 1 ? 'Last' : 'Middle';
}

function Thumbnail({ kind, url }) {
  if (kind === 'image') return html`<img class="thumb" src=${url} alt="" loading="lazy" />`;
  if (kind === 'video') {
    return html`<video class="thumb" src=${`${url}#t=1`} muted playsinline preload="metadata">
      </video>`;
  }
  return html`<span class="thumb sound" aria-hidden="true">♪</span>`;
}
