// Inputs that are files of this installation: an uploaded file by its id, or any file by its link.
// When the job is sent, the generator gets a URL of the file. If the generator can reach no URL of
// this installation, images and audio are sent inside the request. The measured length of an upload
// is not used: its bytes are the caller's, so a caller can forge it.

import { inlineKinds } from '../catalogue/limits.rules';
import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import type { Media } from '../files/media-type.rules';

export interface InputFile {
  readonly id: string;
  readonly media: Media;
  readonly bytes: number;
  /**
   * `address`: the generator gets a URL of the file. `inline`: the bytes are sent inside the
   * request, because the generator can reach no URL of the file.
   */
  readonly sentAs: 'address' | 'inline';
}

/**
 * Files, keyed by the text in the request: an id or a link. The value is null if there is no such
 * file.
 */
export type InputFiles = ReadonlyMap<string, InputFile | null>;

// A request to the generator may have at most 64 MB. Base64 turns three bytes into four, so 45 MB
// become 60 MB.
const inlineBytesMax = 45_000_000;

const kinds = { images: 'image', videos: 'video', audios: 'audio' } as const;
const mediaFields = ['images', 'videos', 'audios'] as const;

/** `inline` are the kinds of files whose bytes may be sent inside the request. */
export function inputFileFaults(
  request: VideoRequest,
  files: InputFiles,
  inline: readonly Media[] = inlineKinds,
): Refusal[] {
  const faults: Refusal[] = [];
  let inlineBytes = 0;
  for (const field of mediaFields) {
    for (const [index, sent] of request[field].entries()) {
      if (!files.has(sent)) continue;
      const param = `${field}[${index}]`;
      const file = files.get(sent);
      if (file?.sentAs === 'inline') inlineBytes += file.bytes;
      const fault = faultOf(file ?? null, kinds[field], inline);
      if (fault) faults.push({ code: 'invalid_value', param, message: `${param}: ${fault}` });
    }
  }
  if (inlineBytes > inlineBytesMax) {
    const message =
      `images: the files of this request have ${inlineBytes} bytes, and at most ${inlineBytesMax} can be sent ` +
      'to the generator without a public address of this service. Send smaller files or public addresses.';
    faults.push({ code: 'invalid_value', param: 'images', message });
  }
  return faults;
}

function faultOf(file: InputFile | null, wanted: Media, inline: readonly Media[]): string | null {
  if (!file) return 'there is no such file; it may have been deleted. Upload it again.';
  if (file.media !== wanted) return `the file is of the kind ${file.media}, not ${wanted}.`;
  if (file.sentAs === 'inline' && !inline.includes(file.media)) {
    return (
      `the generator takes a file of the kind ${file.media} by its address only, and this service has no address that it can reach. ` +
      'Send a public address; an operator can set PUBLIC_URL to a public https address.'
    );
  }
  return null;
}

/**
 * A generator takes reference videos of 15 s in all. Containers round lengths, so generators take a
 * little more.
 */
export const longestReferenceMs = 15_200;

/**
 * The total length of the reference videos to hold. A stated length can only raise it, because the
 * generator bills the real length. If the operator trusts the account, a stated length sets it.
 */
export function referenceMsToHold(
  videoCount: number,
  statedSeconds: number | undefined,
  isTrusted: boolean,
): number {
  if (videoCount === 0) return 0;
  const statedMs = Math.ceil((statedSeconds ?? 0) * 1000);
  return isTrusted && statedMs > 0 ? statedMs : Math.max(longestReferenceMs, statedMs);
}

/** The file ids for the plan, keyed by the text in the request. Undefined if there are no files. */
export function fileIds(files: InputFiles): Readonly<Record<string, string>> | undefined {
  const ids = [...files].flatMap(([sent, file]) => (file ? [[sent, file.id]] : []));
  return ids.length > 0 ? (Object.fromEntries(ids) as Record<string, string>) : undefined;
}
