// Compares the models: what a plain video costs, its largest size and lengths, what it can read, and
// how long the last tasks of the account took.

import { money, span } from './format.js';
import { usePolled } from './hooks.js';
import { html } from './preact.js';

const newest = 10;

/** The seconds that the last succeeded tasks took, by model. */
export function useTook(api) {
  const { value } = usePolled(
    async () => {
      const { data } = await api.get('/v1/tasks?status=succeeded&limit=100');
      const took = new Map();
      for (const { model, created_at: from, finished_at: to } of data) {
        const own = took.get(model) ?? [];
        if (own.length < newest) took.set(model, [...own, to - from]);
      }
      return took;
    },
    () => null,
    [api],
  );
  return value ?? new Map();
}

export function tookText(seconds) {
  if (!seconds) return 'No task of this model has ended yet.';
  if (seconds.length === 1) return `The last task took ${span(seconds[0])}.`;
  return `Half of the last ${seconds.length} tasks took ${span(middleOf(seconds))} or less.`;
}

const middleOf = (seconds) =>
  [...seconds].sort((one, other) => one - other)[Math.ceil(seconds.length / 2) - 1];

export function Compare({ models, took, chosen, onChoose }) {
  if (models.length < 2) return null;
  return html`
    <details class="compare">
      <summary>Compare the ${models.length} models</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Comparison">
        <table class="figures">
          <thead><tr><th scope="col">Model</th><th scope="col">Plain video</th>
            <th scope="col">Largest</th><th scope="col">Seconds</th><th scope="col" class="text">Reads</th>
            <th scope="col" class="text">Took</th></tr></thead>
          <tbody>
            ${models.map(
              (model) => html`<tr key=${model.id} class=${model.id === chosen ? 'current' : ''}>
                <th scope="row"><button type="button" class="quiet" onClick=${() => onChoose(model.id)}
                  aria-pressed=${model.id === chosen}>${model.id}</button></th>
                <td>${money(model.plain_video.price, model.plain_video.currency)}</td>
                <td>${largest(model)}</td>
                <td>${lengths(model.durations)}</td>
                <td class="text">${reads(model)}</td>
                <td class="text">${took.has(model.id) ? span(middleOf(took.get(model.id))) : '–'}</td></tr>`,
            )}
          </tbody>
        </table>
      </div>
      <p class="small">${plainText(models)}</p>
    </details>
  `;
}

function plainText(models) {
  const { duration, resolution } = models[0].plain_video;
  return `A plain video has ${duration} seconds in ${resolution} and no references; this is the most that it costs. “Took” is the middle of the last ${newest} tasks.`;
}

function largest({ sizes, resolutions }) {
  const all = Object.values(sizes).flatMap((byRatio) => Object.values(byRatio));
  const pixels = (size) => size.split('x').reduce((one, other) => one * Number(other), 1);
  const [first] = all.sort((one, other) => pixels(other) - pixels(one));
  return first ? first.replace('x', ' × ') : resolutions.at(-1);
}

function lengths({ min, max, values, auto }) {
  const text = values ? values.join(', ') : min === max ? String(min) : `${min} to ${max}`;
  return auto ? `${text}, auto` : text;
}

function reads({ inputs, features }) {
  const { types, reference_images_max: images, videos_max: videos, audios_max: audios } = inputs;
  const references = [
    [images, 'images'],
    [videos, 'videos'],
    [audios, 'sounds'],
  ].flatMap(([most, what]) => (most > 0 ? [`${most} ${what}`] : []));
  return [
    'text',
    ...(types.includes('first_last_frame') ? ['first and last frame'] : []),
    ...(types.includes('reference') ? references : []),
    ...(features.tools.includes('web_search') ? ['the web'] : []),
  ].join(', ');
}
