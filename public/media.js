// The field for images, videos or audios of a task. The user uploads files, chooses samples or
// enters URLs. The order of the images matters for frames.

import { html, newId, useState } from './preact.js';
import { fileName } from './session.js';
import { Thumbnail } from './thumbnail.js';
import { useDrop, useUploads } from './uploads.js';

const titles = { images: 'Images', videos: 'Videos', audios: 'Audio' };

export function MediaField({ api, slot, draft, urls, samples, onUrls, onUpload, fault }) {
  const { name, kind, max } = slot;
  const [faultId] = useState(() => newId('fault'));
  const isFrames = draft.inputType === 'first_last_frame';
  const add = (url) => onUrls((now) => [...now, url]);
  const room = max - urls.length;
  const uploads = useUploads(api, { kind, room, onStored: add, onUpload });
  const drop = useDrop(uploads.take);
  const said = [fault, uploads.fault].filter(Boolean).join('\n');
  return html`
    <fieldset class=${`field media ${drop.isOver ? 'over' : ''}`} data-kind=${kind}
      aria-describedby=${said ? faultId : undefined}
      ...${drop.handlers}>
      <legend>
        ${isFrames ? 'Frames' : titles[name]}
        <span class="hint">${isFrames ? 'the first and the last picture' : `up to ${max}`}; drop a
          file here</span>
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
      ${uploads.busy && html`<p class="small" role="status">Uploading ${uploads.busy}…</p>`}
      ${
        urls.length < max &&
        html`<div class="add">
          <${AddressInput} name=${name} kind=${kind} isWrong=${Boolean(fault)} onAdd=${add} />
          <${UploadButton} kind=${kind} take=${uploads.take} />
          ${samples
            .filter((sample) => sample.kind === kind && !urls.includes(sample.url))
            .map(
              (sample) => html`<${SampleButton} key=${sample.url} sample=${sample}
                onAdd=${() => add(sample.url)} />`,
            )}
        </div>`
      }
      ${
        said &&
        html`<p class="fault" id=${faultId} role=${uploads.fault ? 'alert' : undefined}>
        ${said}</p>`
      }
    </fieldset>
  `;
}

function UploadButton({ kind, take }) {
  const onChange = ({ currentTarget }) => {
    void take(currentTarget.files);
    currentTarget.value = ''; // Otherwise the same file could not be chosen again.
  };
  return html`
    <label class="button file">
      Upload<span class="unseen"> ${kind}</span>
      <input type="file" class="unseen" accept=${`${kind}/*`} multiple onChange=${onChange} />
    </label>
  `;
}

/**
 * Adds the typed URL on blur or on Enter. The default action of Enter is prevented, because it
 * would submit the form.
 */
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
  const earlier = () =>
    onUrls(() => [...without.slice(0, index - 1), url, ...without.slice(index - 1)]);
  const shown = fileName(url) ?? url;
  const name = frameName(index, urls.length, isFrames);
  return html`
    <li>
      <${Thumbnail} kind=${kind} url=${url} />
      ${name && html`<span class="tag">${name}</span>`}
      <span class="address" title=${url}>${shown}</span>
      ${
        index > 0 &&
        html`<button type="button" class="quiet round" aria-label=${`Move ${shown} forward`}
          onClick=${earlier}>
          ↑
        </button>`
      }
      <button type="button" class="quiet round" aria-label=${`Remove ${shown}`}
        onClick=${() => onUrls(() => without)}>
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
