// Pictures, films and sounds that go into a task: picked from the samples or by an address of one's
// own, in an order that matters for frames.

import { html, newId, useState } from './ui.js';

const titles = { images: 'Images', videos: 'Videos', audios: 'Audio' };

export function MediaField({ slot, draft, urls, samples, onUrls, fault }) {
  const { name, kind, max } = slot;
  const [ids] = useState(() => ({ url: newId('url'), fault: newId('fault') }));
  const [typed, setTyped] = useState('');
  const isFrames = draft.inputType === 'first_last_frame';
  const add = (url) => {
    if (url.trim()) onUrls([...urls, url.trim()]);
    setTyped('');
  };
  const onKeyDown = (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add(typed);
  };
  return html`
    <fieldset class="field media" aria-describedby=${fault ? ids.fault : undefined}>
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
          <label class="unseen" for=${ids.url}>Address of ${kind}</label>
          <input
            id=${ids.url}
            name=${name}
            type="url"
            inputmode="url"
            placeholder=${`https://… ${kind}`}
            value=${typed}
            onInput=${(event) => setTyped(event.currentTarget.value)}
            onKeyDown=${onKeyDown}
            onBlur=${() => add(typed)}
            aria-invalid=${fault ? 'true' : undefined}
          />
          ${samples
            .filter((sample) => sample.kind === kind && !urls.includes(sample.url))
            .map(
              (sample) => html`
                <button
                  key=${sample.url}
                  type="button"
                  class="sample"
                  title=${`Add the sample ${sample.name}`}
                  aria-label=${`Add the sample ${sample.name}`}
                  onClick=${() => onUrls([...urls, sample.url])}
                >
                  <${Thumbnail} kind=${kind} url=${sample.url} />
                </button>
              `,
            )}
        </div>`
      }
      ${fault && html`<p class="fault" id=${ids.fault}>${fault}</p>`}
    </fieldset>
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

export function Thumbnail({ kind, url }) {
  if (kind === 'image') return html`<img class="thumb" src=${url} alt="" loading="lazy" />`;
  if (kind === 'video') {
    return html`<video class="thumb" src=${`${url}#t=1`} muted playsinline preload="metadata">
      </video>`;
  }
  return html`<span class="thumb sound" aria-hidden="true">♪</span>`;
}
