// Turns the form's draft into the body of a request. Options that the chosen model lacks are not in
// the body. Everything else is sent as entered, because the API validates it.

import { kindNames } from './format.js';

export const emptyDraft = {
  model: '',
  prompt: '',
  mode: '',
  inputType: 'text_to_video',
  images: [],
  videos: [],
  audios: [],
  resolution: '',
  ratio: '',
  duration: '',
  audio: true,
  watermark: false,
  draft: false,
  lastFrame: false,
  webSearch: false,
  seed: '',
  callbackUrl: '',
  safetyId: '',
  expiresAfter: '',
  inputVideoDuration: '',
  labels: '',
  enhance: {
    on: false,
    by: 'tier',
    resolution: '',
    limit: '',
    scene: '',
    toolVersion: '',
    fps: '',
  },
  more: '',
};

/**
 * The draft without choices that this model does not support. An empty choice means the model's
 * default.
 */
export function fitDraft(draft, model) {
  const { inputs, features } = model;
  const known = (value, values) => (values.includes(value) ? value : '');
  const fits = draft.duration === '-1' ? model.durations.auto : withinDurations(draft, model);
  return {
    ...draft,
    model: model.id,
    mode: known(draft.mode, features.modes),
    inputType: known(draft.inputType, inputs.types) || inputs.types[0],
    resolution: known(draft.resolution, model.resolutions),
    ratio: known(draft.ratio, model.ratios),
    duration: fits ? draft.duration : '',
  };
}

function withinDurations({ duration }, { durations }) {
  return Number(duration) >= durations.min && Number(duration) <= durations.max;
}

/**
 * The kinds of media that the chosen input type takes on this model, with their maximum numbers.
 */
export function mediaOf({ inputType }, { inputs }) {
  if (inputType === 'first_last_frame') {
    return [{ name: 'images', kind: 'image', max: inputs.middle_frames ? 9 : 2 }];
  }
  if (inputType !== 'reference') return [];
  return [
    { name: 'images', kind: 'image', max: inputs.reference_images_max },
    { name: 'videos', kind: 'video', max: inputs.videos_max },
    { name: 'audios', kind: 'audio', max: inputs.audios_max },
  ].filter(({ max }) => max > 0);
}

/**
 * Returns the messages about missing inputs, by field. The form is not sent while an input is
 * missing.
 */
export function missingOf(draft, model) {
  const missing = {};
  if (!draft.prompt.trim()) missing.prompt = 'Write what the video should show.';
  const slots = mediaOf(draft, model);
  if (draft.inputType === 'first_last_frame' && draft.images.length < 2) {
    missing.images =
      draft.images.length === 0
        ? 'Add the first and the last frame.'
        : 'Add the last frame. For a video from a single image choose “Reference” above.';
  }
  if (draft.inputType === 'reference' && slots.every(({ name }) => draft[name].length === 0)) {
    const kinds = slots.map(({ kind }) => kindNames[kind]);
    missing[slots[0].name] = `Add ${kinds.join(' or ')}. For a prompt alone choose “Text” above.`;
  }
  if (model.features.super_resolution && draft.enhance.on) {
    const isEmpty = !metadataOf(draft, model).metadata.super_resolution_config;
    const isLargest = enhanceTargets(draft, model).length === 0;
    if (isEmpty && isLargest) missing[enhanceAt] = 'No larger size is offered. Turn this off.';
    else if (isEmpty) {
      const name = draft.enhance.by === 'tier' ? 'resolution' : 'resolution_limit';
      missing[`${enhanceAt}.${name}`] = 'Choose how large the video becomes.';
    }
  }
  return missing;
}

export const enhanceAt = 'metadata.super_resolution_config';

/** The tiers that super-resolution can make from the video of this draft. */
export function enhanceTargets(draft, model) {
  const base = isDraft(draft, model) ? '480p' : draft.resolution || model.defaults.resolution;
  return model.super_resolution?.targets[base] ?? [];
}

/** True if the user chose a draft and the model supports drafts. */
export function isDraft({ draft }, { features }) {
  return features.draft && draft;
}

/** True if the video of this draft can have its last frame as a picture. */
export function hasLastFrame(draft, model) {
  const { last_frame: hasOne, draft_last_frame: hasOneInDrafts } = model.features;
  return isDraft(draft, model) ? hasOneInDrafts : hasOne;
}

export function takesTools({ inputType }, { features }) {
  return features.tools.length > 0 && (inputType === 'text_to_video' || !features.tools_text_only);
}

/**
 * Returns the request body and the faults that the page finds before it sends the request. There
 * are two kinds of fault: a label that is not `name=value`, and further metadata that is not a JSON
 * object.
 */
export function requestOf(draft, model) {
  const media = mediaOf(draft, model).map(({ name }) => [name, draft[name]]);
  const { metadata, faults } = metadataOf(draft, model);
  const body = present({
    model: draft.model,
    prompt: draft.prompt,
    mode: draft.mode,
    input_type: draft.inputType,
    ...Object.fromEntries(media),
    resolution: isDraft(draft, model) ? '' : draft.resolution,
    ratio: draft.ratio,
    duration: numberOr(draft.duration),
    metadata,
  });
  return { body, faults };
}

function metadataOf(draft, model) {
  const { features } = model;
  const { more, fault } = furtherOf(draft.more);
  const { labels, fault: labelsFault } = labelsOf(draft.labels);
  const hasVideos = mediaOf(draft, model).some(({ name }) => name === 'videos') && draft.videos[0];
  const metadata = present({
    generate_audio: features.audio && !draft.audio ? false : '',
    watermark: draft.watermark || '',
    draft: isDraft(draft, model) || '',
    return_last_frame: (hasLastFrame(draft, model) && draft.lastFrame) || '',
    seed: numberOr(draft.seed),
    tools: takesTools(draft, model) && draft.webSearch ? [{ type: 'web_search' }] : [],
    execution_expires_after: numberOr(draft.expiresAfter),
    callback_url: draft.callbackUrl.trim(),
    safety_identifier: draft.safetyId,
    input_video_duration: hasVideos ? numberOr(draft.inputVideoDuration) : '',
    super_resolution_config: features.super_resolution ? enhancementOf(draft.enhance) : {},
    labels,
    ...more,
  });
  return { metadata, faults: present({ 'metadata.labels': labelsFault, metadata: fault }) };
}

function enhancementOf({ on, by, resolution, limit, scene, toolVersion, fps }) {
  if (!on) return {};
  return present({
    resolution: by === 'tier' ? resolution : '',
    resolution_limit: by === 'pixels' ? numberOr(limit) : '',
    scene,
    tool_version: toolVersion,
    fps: numberOr(fps),
  });
}

/** Reads one `name=value` per line. The value may contain further `=`. */
function labelsOf(text) {
  const pairs = text
    .split('\n')
    .filter((line) => line.trim())
    .map((line) =>
      /^([^=]+)=(.*)$/s
        .exec(line)
        ?.slice(1)
        .map((word) => word.trim()),
    );
  const names = pairs.map((pair) => pair?.[0]);
  const twice = names.find((name, at) => name && names.indexOf(name) < at);
  if (pairs.includes(undefined)) {
    return { labels: {}, fault: 'Each line must be name=value, for example order=4711.' };
  }
  if (twice) return { labels: {}, fault: `The name ${twice} is there twice.` };
  return { labels: Object.fromEntries(pairs) };
}

function furtherOf(text) {
  if (text.trim() === '') return { more: {} };
  try {
    const more = JSON.parse(text);
    if (more !== null && typeof more === 'object' && !Array.isArray(more)) return { more };
  } catch {
    // The text is not JSON. The fault below tells the user what to enter.
  }
  return { more: {}, fault: 'This must be a JSON object, for example {"camera": "slow"}.' };
}

/**
 * Returns the number if the text is a number. Otherwise returns the text. The API then refuses the
 * request and explains the fault.
 */
function numberOr(text) {
  const trimmed = text.trim();
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

/**
 * Leaves out empty values, because an empty field of the form means that the user has set nothing.
 * The prompt is sent even if it is empty, because the API requires a prompt.
 */
function present(fields) {
  const isEmpty = (value) =>
    value === '' ||
    value === undefined ||
    (value !== null && typeof value === 'object' && Object.keys(value).length === 0);
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => name === 'prompt' || !isEmpty(value)),
  );
}
