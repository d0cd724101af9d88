// The sentences about media that a provider refused or could not fetch. The address of a file is the
// caller's, and one that is not public is the likeliest mistake, so a sentence names the field.

import type { VideoRequest } from '../../src/contract/request';

/**
 * What a refusal says of the media. `unfetched`: its code stands for a failed download. `refused`: it
 * names a file, or that a file is the reason. `unsaid`: a parameter is wrong, and it names none.
 */
export interface MediaClue {
  readonly is: 'unfetched' | 'refused' | 'unsaid';
  /** The field of the file, if the refusal names it. */
  readonly field?: string | undefined;
}

type Files = Pick<VideoRequest, 'images' | 'videos' | 'audios'>;

const kinds = ['images', 'videos', 'audios'] as const;

/** The fields of all files, in the order in which the protocols with a list of media send them. */
export function fieldsOf(request: Files): readonly string[] {
  return kinds.flatMap((kind) => request[kind].map((_, index) => `${kind}[${index}]`));
}

/** The fields whose files the provider fetches. The others are sent inside the create. */
function fetchedFields(request: Files): readonly string[] {
  const urls = kinds.flatMap((kind) => request[kind]);
  return fieldsOf(request).filter((_, index) => /^https?:/i.test(urls[index]!));
}

const check = (which: string) => `check that ${which} address is public and answers with the file.`;

/** For a job, whose request the reader of its state does not know. */
export const unfetchedFile = `One of the files could not be fetched by the provider: ${check('each')}`;

/** `general` is the sentence without the clue. */
export function mediaSentence(
  general: string,
  clue: MediaClue | null,
  request: Files | null,
): string {
  if (!clue || !request) return general;
  const fetched = fetchedFields(request);
  const { is, field } = clue;
  if (field !== undefined && !fetched.includes(field)) {
    return `${field} was refused by the provider.`;
  }
  const fields = field === undefined ? fetched : [field];
  if (fields.length === 0) return general;
  const [only, ...others] = fields;
  const named = others.length === 0 ? only : `One of ${fields.join(', ')}`;
  if (is === 'unsaid') {
    return `${general} The likeliest cause is an address that is not public: ${fields.join(', ')}.`;
  }
  const what = is === 'unfetched' ? 'could not be fetched' : 'was refused or could not be fetched';
  return `${named} ${what} by the provider: ${check(others.length === 0 ? 'its' : 'each')}`;
}
