// The library page with the account's media: the videos of succeeded tasks, and the uploaded files.

import { CopyButton } from './controls.js';
import { reasons } from './film.js';
import { bytesText, clock, span } from './format.js';
import { go } from './hooks.js';
import { MoreButton, usePages } from './pagination.js';
import { html, useState } from './preact.js';
import { emptyDraft, mediaOf } from './request.js';
import { noteFile, noteOf, recall, remember } from './session.js';
import { State } from './state.js';
import { Thumbnail } from './thumbnail.js';

export function LibraryPage({ api, models }) {
  return html`
    <main class="list library">
      <h1>Library</h1>
      <${Videos} api=${api} models=${models} />
      <${Uploads} api=${api} models=${models} />
    </main>
  `;
}

function Videos({ api, models }) {
  const ask = (after, limit) =>
    api.get(`/v1/tasks?status=succeeded&limit=${limit}${after ? `&after=${after}` : ''}`);
  const list = usePages(ask, 12, () => 10_000, [api]);
  // The answers to deletions on this page, by task id. Each answer replaces the row of its task.
  const [changed, setChanged] = useState({});
  const remove = async ({ id }) => {
    const task = await api.removeContent(id);
    setChanged((before) => ({ ...before, [id]: task }));
  };
  return html`
    <${Section} title="Videos" list=${list} none="No task has finished yet.">
      ${list.rows.map(
        (row) => html`<${Video} key=${row.id} task=${changed[row.id] ?? row} models=${models}
          onRemove=${remove} />`,
      )}
    <//>
  `;
}

function Uploads({ api, models }) {
  const ask = (after, limit) =>
    api.get(`/v1/files?limit=${limit}${after ? `&after=${after}` : ''}`);
  const list = usePages(ask, 12, () => null, [api]);
  const [removed, setRemoved] = useState([]);
  const remove = async ({ id }) => {
    await api.remove(`/v1/files/${encodeURIComponent(id)}`);
    setRemoved((before) => [...before, id]);
  };
  const rows = list.rows.filter(({ id }) => !removed.includes(id));
  return html`
    <${Section} title="Uploaded files" list=${{ ...list, rows }}
      none="No file yet. Drop one on the form, or send it to /v1/files.">
      ${rows.map(
        (file) => html`<${Upload} key=${file.id} file=${file} models=${models}
          onRemove=${remove} />`,
      )}
    <//>
  `;
}

function Section({ title, list, none, children }) {
  return html`
    <section aria-label=${title}>
      <h2>${title}</h2>
      <${State} of=${list} />
      ${list.value && list.rows.length === 0 && html`<p class="nothing">${none}</p>`}
      <ul class="media-cards">${children}</ul>
      <${MoreButton} load=${list.load} />
    </section>
  `;
}

function Video({ task, models, onRemove }) {
  const [video] = task.data;
  const title = noteOf(task.id).body?.prompt ?? task.id;
  const size = video.width && `${video.width} × ${video.height}`;
  const facts = [task.model, size ?? video.resolution, task.duration && span(task.duration)];
  if (!video.url) {
    const why = reasons[video.url_gone_reason] ?? video.url_gone_reason;
    return html`<${Card} title=${title} href=${`#/tasks/${task.id}`} facts=${facts}
      note=${`Not kept any more: ${why}.`} />`;
  }
  const picture = video.last_frame_url
    ? { kind: 'image', url: video.last_frame_url }
    : { kind: 'video', url: video.url };
  return html`<${Card} title=${title} href=${`#/tasks/${task.id}`} facts=${facts}
    note=${`Kept until ${clock(video.expires_at)}`} picture=${picture}
    link=${video.url} onUse=${() => use({ kind: 'video', url: video.url, name: title }, models)}
    onRemove=${() => onRemove(task)} />`;
}

function Upload({ file, models, onRemove }) {
  const facts = [file.kind, bytesText(file.bytes), file.duration && span(file.duration)];
  return html`<${Card} title=${file.name ?? file.id} href=${file.url} facts=${facts}
    note=${`Kept until ${clock(file.expires_at)}`} picture=${file} link=${file.url}
    onUse=${() => use(file, models)} onRemove=${() => onRemove(file)} />`;
}

const fields = { image: 'images', video: 'videos', audio: 'audios' };

/**
 * Adds the file to the stored draft. The input type becomes `reference`, unless the draft is for
 * frames and the file is an image. If the model takes no such file, the draft gets a model that does.
 * A file for which there is no room replaces the last one.
 */
function use(file, models = []) {
  noteFile(file);
  const draft = { ...emptyDraft, ...recall('draft', {}) };
  const field = fields[file.kind];
  const fits = file.kind === 'image' && draft.inputType === 'first_last_frame';
  const inputType = fits ? draft.inputType : 'reference';
  const roomOf = (model) =>
    model?.inputs.types.includes(inputType)
      ? (mediaOf({ inputType }, model).find(({ name }) => name === field)?.max ?? 0)
      : 0;
  const own = models.find(({ id }) => id === draft.model) ?? models[0];
  const model = roomOf(own) > 0 ? own : models.find((other) => roomOf(other) > 0);
  const others = draft[field].filter((url) => url !== file.url);
  remember('draft', {
    ...draft,
    ...(model ? { model: model.id } : {}),
    inputType,
    [field]: [...others.slice(0, (roomOf(model) || Number.POSITIVE_INFINITY) - 1), file.url],
  });
  go('create');
}

function Card({ title, href, facts, note, picture, link, onUse, onRemove }) {
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    if (!confirm(`Delete ${title}? Its link ends at once.`)) return;
    setBusy(true);
    setFault('');
    await onRemove().catch((error) => setFault(error.message));
    setBusy(false);
  };
  return html`
    <li class="card">
      <a class="still" href=${href} aria-label=${title}>
        ${picture ? html`<${Thumbnail} ...${picture} />` : html`<span class="thumb"></span>`}
      </a>
      <p class="title" title=${title}>${title}</p>
      <p class="small">${facts.filter(Boolean).join(' · ')}</p>
      <p class="small">${note}</p>
      ${
        link &&
        html`<div class="bar">
          <button type="button" class="quiet" aria-label=${`Use ${title}`} onClick=${onUse}>
            Use</button>
          <a class="quiet" href=${link} target="_blank" rel="noopener"
            aria-label=${`Open ${title}`}>Open</a>
          <${CopyButton} text=${link} label="Copy link" />
          <button type="button" class="quiet" aria-label=${`Delete ${title}`} disabled=${busy}
            onClick=${remove}>Delete</button>
        </div>`
      }
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    </li>
  `;
}
