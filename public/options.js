// The form's fields for `metadata`. The common options are switches. The rarer fields are
// collapsed, unless one of them has a fault.

import { Select, Strip, Text, Toggle } from './controls.js';
import { html, useEffect, useState } from './preact.js';
import { enhanceAt, enhanceTargets, hasLastFrame, isDraft, takesTools } from './request.js';

export const optionNames = [
  'metadata.generate_audio',
  'metadata.watermark',
  'metadata.draft',
  'metadata.return_last_frame',
  'metadata.tools',
];
export const enhanceNames = [
  enhanceAt,
  ...['resolution', 'resolution_limit', 'scene', 'tool_version', 'fps'].map(
    (n) => `${enhanceAt}.${n}`,
  ),
];
export const moreNames = [
  'metadata.seed',
  'metadata.execution_expires_after',
  'metadata.callback_url',
  'metadata.safety_identifier',
  'metadata.input_video_duration',
  'metadata.labels',
  'metadata',
];

/**
 * Returns a function that makes the props of a control: the name, value and fault of one field of
 * the draft.
 */
function bound(draft, change, faults) {
  return (place, name) => ({
    name,
    value: draft[place],
    onValue: (value) => change({ [place]: value }),
    fault: faults[name],
  });
}

export function Options({ draft, model, change, faults }) {
  const { features } = model;
  const at = bound(draft, change, faults);
  return html`
    <div class="switches">
      ${
        features.audio &&
        html`<${Toggle} label="Sound" hint="made with the picture"
        ...${at('audio', 'metadata.generate_audio')} />`
      }
      ${
        hasLastFrame(draft, model) &&
        html`<${Toggle} label="Last frame" hint="as a picture"
        ...${at('lastFrame', 'metadata.return_last_frame')} />`
      }
      <${Toggle} label="Watermark" hint="shown in the result"
        ...${at('watermark', 'metadata.watermark')} />
      ${
        features.draft &&
        html`<${Toggle} label="Draft" hint="cheap preview, 480p"
        ...${at('draft', 'metadata.draft')} />`
      }
      ${
        takesTools(draft, model) &&
        html`<${Toggle} label="Web search"
        hint="for facts in the prompt" ...${at('webSearch', 'metadata.tools')} />`
      }
    </div>
  `;
}

const scenes = [
  ['', 'Default'],
  ['aigc', 'Generated'],
  ['short_series', 'Short series'],
  ['ugc', 'User made'],
  ['old_film', 'Old film'],
];

export function Enhance({ draft, model, change, faults }) {
  const { enhance } = draft;
  const set = (more) => change({ enhance: { ...enhance, ...more } });
  const at = (place, name) => ({
    name: `${enhanceAt}.${name}`,
    value: enhance[place],
    onValue: (value) => set({ [place]: value }),
    fault: faults[`${enhanceAt}.${name}`],
  });
  const base = isDraft(draft, model) ? '480p' : draft.resolution || model.defaults.resolution;
  const targets = enhanceTargets(draft, model);
  const turn = (on) => set({ on, resolution: enhance.resolution || (targets[0] ?? '') });
  return html`
    <${Toggle}
      label="Super-resolution"
      hint="a second step makes it larger"
      name=${enhanceAt}
      value=${enhance.on}
      onValue=${turn}
      fault=${enhance.on ? faults[enhanceAt] : undefined}
    />
    ${
      enhance.on &&
      html`<div class="nest">
        <${Strip} label="Target" name="enhance-by" value=${enhance.by}
          onValue=${(by) => set({ by })}
          options=${[['tier', 'Tier'], ['pixels', 'Short side']]} />
        ${
          enhance.by === 'tier'
            ? html`<${Strip} label="Tier" hint=${`above ${base}`}
              options=${targets.map((t) => [t, t])} ...${at('resolution', 'resolution')} />`
            : html`<${Text} label="Pixels" hint="64 to 2160" inputmode="numeric"
              ...${at('limit', 'resolution_limit')} />`
        }
        <${Select} label="Scene" options=${scenes} ...${at('scene', 'scene')} />
        <${Strip} label="Tool" hint="professional costs ten times as much"
          ...${at('toolVersion', 'tool_version')}
          options=${[['', 'Standard'], ['professional', 'Professional']]} />
        <${Text} label="Frames per second" hint="1 to 120" placeholder="as it is"
          inputmode="numeric" ...${at('fps', 'fps')} />
      </div>`
    }
  `;
}

export function More({ draft, change, faults }) {
  const at = bound(draft, change, faults);
  const isFaulty = moreNames.some((name) => faults[name]);
  const [isOpen, setOpen] = useState(isFaulty);
  // A fault opens the section. A correction does not close the section, because the user is still
  // typing in it.
  useEffect(() => {
    if (isFaulty) setOpen(true);
  }, [isFaulty]);
  const hasVideos = draft.inputType === 'reference' && draft.videos.length > 0;
  return html`
    <details class="more" open=${isOpen} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>More</summary>
      <div class="pairs">
        <${Text} label="Seed" placeholder="random" inputmode="numeric"
          ...${at('seed', 'metadata.seed')} />
        <${Text} label="Time limit" hint="seconds, 3600 to 259200" placeholder="172800"
          inputmode="numeric"
          ...${at('expiresAfter', 'metadata.execution_expires_after')} />
        ${
          hasVideos &&
          html`<${Text} label="Length of the videos" hint="seconds, for the estimate"
            inputmode="decimal"
            ...${at('inputVideoDuration', 'metadata.input_video_duration')} />`
        }
        <${Text} label="End user" hint="an identifier"
          ...${at('safetyId', 'metadata.safety_identifier')} />
      </div>
      <${Text} label="Callback address" hint="called when the task is final" type="url"
        placeholder="https://…"
        ...${at('callbackUrl', 'metadata.callback_url')} />
      <${Text} label="Labels" hint="name=value, one a line" rows="2" spellcheck="false"
        class="code" placeholder="order=4711" ...${at('labels', 'metadata.labels')} />
      <${Text} label="Further metadata" hint="JSON, passed to the generator" rows="3"
        spellcheck="false" class="code"
        ...${at('more', 'metadata')} />
    </details>
  `;
}
