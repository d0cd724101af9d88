// Turns the body of a request into a draft of the form: the other way of request.js. What the form has
// no field for goes to its field of further metadata.

import { emptyDraft } from './request.js';

const text = (value) => (value === undefined || value === null ? '' : String(value));

export function draftOf(body) {
  const {
    generate_audio: audio,
    watermark,
    draft,
    return_last_frame: lastFrame,
    seed,
    tools,
    execution_expires_after: expiresAfter,
    callback_url: callbackUrl,
    safety_identifier: safetyId,
    input_video_duration: inputVideoDuration,
    super_resolution_config: enhancement,
    labels,
    ...more
  } = body.metadata ?? {};
  return {
    ...emptyDraft,
    model: text(body.model),
    prompt: text(body.prompt),
    mode: text(body.mode),
    inputType: text(body.input_type) || emptyDraft.inputType,
    images: body.images ?? [],
    videos: body.videos ?? [],
    audios: body.audios ?? [],
    resolution: text(body.resolution),
    ratio: text(body.ratio),
    duration: text(body.duration),
    audio: audio !== false,
    watermark: watermark === true,
    draft: draft === true,
    lastFrame: lastFrame === true,
    webSearch: (tools ?? []).length > 0,
    seed: text(seed),
    expiresAfter: text(expiresAfter),
    callbackUrl: text(callbackUrl),
    safetyId: text(safetyId),
    inputVideoDuration: text(inputVideoDuration),
    labels: Object.entries(labels ?? {})
      .map((pair) => pair.join('='))
      .join('\n'),
    enhance: enhanceOf(enhancement),
    more: Object.keys(more).length > 0 ? JSON.stringify(more) : '',
  };
}

function enhanceOf(sent) {
  if (!sent) return emptyDraft.enhance;
  return {
    on: true,
    by: sent.resolution_limit === undefined ? 'tier' : 'pixels',
    resolution: text(sent.resolution),
    limit: text(sent.resolution_limit),
    scene: text(sent.scene),
    toolVersion: text(sent.tool_version),
    fps: text(sent.fps),
  };
}
