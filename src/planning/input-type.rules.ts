// Determines the input type of a request and checks whether the media fit this type. The rules of
// the API document are checked first. The model's own rules are checked only if the media fit the
// rules of the API document.

import type { Model } from '../catalogue/catalogue.rules';
import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import type { InputType } from '../contract/vocabulary';
import { unsupported } from './ability-faults.rules';
import { list } from './resolution.rules';

type Media = Pick<VideoRequest, 'images' | 'videos' | 'audios'>;

export function inferInputType({ images, videos, audios }: Media): InputType {
  if (videos.length > 0) return 'reference';
  if (images.length >= 2) return 'first_last_frame';
  if (images.length === 1 || audios.length > 0) return 'reference';
  return 'text_to_video';
}

/**
 * Checks the API document's rules for the three input types. `stated` is true if the caller sent
 * the input type, and false if the service inferred it.
 */
export function inputTypeFaults(inputType: InputType, stated: boolean, media: Media): Refusal[] {
  const { images, videos, audios } = media;
  const sent = describeMedia(media);
  const word = stated ? `"${inputType}"` : `left out, so it is "${inputType}" (two or more images)`;
  switch (inputType) {
    case 'text_to_video': {
      if (sent === '') return [];
      return [
        conflict(
          `input_type: "text_to_video" takes a prompt only, but the request has ${sent}. ` +
            `Send input_type "${inferFitting(media)}" or leave input_type out.`,
        ),
      ];
    }
    case 'first_last_frame': {
      const faults: Refusal[] = [];
      if (videos.length + audios.length > 0) {
        faults.push(
          conflict(
            `input_type: ${word}, which takes images only, but the request has ${sent}. ` +
              'Send input_type "reference" to use them all as references.',
          ),
        );
      }
      if (images.length < 2 || images.length > 9) {
        faults.push({
          code: images.length === 0 ? 'missing_required_parameter' : 'invalid_value',
          param: 'images',
          message:
            `images: "first_last_frame" needs 2 to 9 images, the first and the last frame among them; got ${images.length}.` +
            (images.length === 1
              ? ' Add the last frame as the second image, or send the image twice: the video then begins and ends with it. ' +
                'To use a single image as a reference send input_type "reference".'
              : ''),
        });
      }
      return faults;
    }
    case 'reference':
      if (sent !== '') return [];
      return [
        {
          code: 'missing_required_parameter',
          param: 'images',
          message:
            'images: input_type "reference" needs at least one of images, videos or audios; none was sent. ' +
            'For a prompt alone send input_type "text_to_video".',
        },
      ];
  }
}

/** Checks the model's own rules. */
export function modelInputFaults(
  inputType: InputType,
  stated: boolean,
  media: Media,
  model: Model,
): Refusal[] {
  const { inputs } = model;
  if (!inputs.types.includes(inputType)) return [typeUnsupported(inputType, stated, media, model)];
  if (inputType === 'first_last_frame') {
    const { length: count } = media.images;
    if (count <= 2 || inputs.middleFrames) return [];
    const fits = inputs.types.includes('reference') && count <= inputs.referenceImagesMax;
    const hint = fits ? ' For more images send input_type "reference".' : '';
    return [
      unsupported(
        'images',
        `"first_last_frame" on model "${model.id}" takes exactly 2 images, the first and the last frame; ` +
          `got ${count}.${hint}`,
      ),
    ];
  }
  if (inputType === 'text_to_video') return [];
  const faults: Refusal[] = [];
  const counts = [
    ['images', media.images.length, inputs.referenceImagesMax],
    ['videos', media.videos.length, inputs.videosMax],
    ['audios', media.audios.length, inputs.audiosMax],
  ] as const;
  for (const [param, count, max] of counts) {
    if (count <= max) continue;
    const takes = max === 0 ? `takes no ${param}` : `takes at most ${max} reference ${param}`;
    faults.push(unsupported(param, `model "${model.id}" ${takes}; got ${count}.`));
  }
  const audioAlone = media.audios.length > 0 && media.images.length + media.videos.length === 0;
  if (audioAlone && inputs.audiosMax > 0 && !inputs.audioAlone) {
    faults.push(
      unsupported(
        'audios',
        `model "${model.id}" takes reference audio only beside an image or a video; add images or videos.`,
      ),
    );
  }
  return faults;
}

function typeUnsupported(
  inputType: InputType,
  stated: boolean,
  media: Media,
  model: Model,
): Refusal {
  const mediaParam = (['videos', 'images', 'audios'] as const).find(
    (kind) => media[kind].length > 0,
  );
  const param = stated || !mediaParam ? 'input_type' : mediaParam;
  const takesReferences =
    inputType === 'first_last_frame' && model.inputs.types.includes('reference');
  return unsupported(
    param,
    `model "${model.id}" takes the input types ${list(model.inputs.types)}, not "${inputType}"` +
      `${stated ? '' : `, which ${describeMedia(media)} without an input_type stands for`}.` +
      (takesReferences ? ' To use the images as references send input_type "reference".' : ''),
  );
}

/**
 * Returns the input type to suggest for these media. Two or more images without other media could
 * be frames; all other media are references.
 */
function inferFitting(media: Media): InputType {
  const framesOnly = media.images.length >= 2 && media.videos.length + media.audios.length === 0;
  return framesOnly ? 'first_last_frame' : 'reference';
}

function describeMedia({ images, videos, audios }: Media): string {
  const counted = [
    [images.length, 'image'],
    [videos.length, 'video'],
    [audios.length, 'audio'],
  ] as const;
  return counted
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}${count === 1 ? '' : 's'}`)
    .join(' and ');
}

function conflict(message: string): Refusal {
  return { code: 'conflicting_parameters', param: 'input_type', message };
}
