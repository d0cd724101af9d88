// Recognises misspelt field names: another case, one or two wrong letters, or the name in another
// API. Such a name is refused. If it were ignored, the caller would pay for another video than the
// one wanted.

/** Field names of other APIs, in lower case without separators. The list is closed on purpose. */
const synonyms: Readonly<Record<string, string>> = {
  textprompt: 'prompt',
  aspect: 'ratio',
  aspectratio: 'ratio',
  dimensions: 'size',
  length: 'duration',
  videolength: 'duration',
  videoduration: 'duration',
  durationseconds: 'duration',
  numseconds: 'duration',
  imageurl: 'images',
  imageurls: 'images',
  firstframe: 'images',
  firstframeurl: 'images',
  lastframe: 'images',
  lastframeurl: 'images',
  startimage: 'images',
  endimage: 'images',
  referenceimages: 'images',
  videourl: 'videos',
  videourls: 'videos',
  referencevideos: 'videos',
  audiourl: 'audios',
  audiourls: 'audios',
  referenceaudios: 'audios',
  sound: 'metadata.generate_audio',
  withaudio: 'metadata.generate_audio',
  enableaudio: 'metadata.generate_audio',
  webhook: 'metadata.callback_url',
  webhookurl: 'metadata.callback_url',
  callback: 'metadata.callback_url',
  upscale: 'metadata.super_resolution_config',
  superresolution: 'metadata.super_resolution_config',
  resolutionlimit: 'metadata.super_resolution_config.resolution_limit',
  toolversion: 'metadata.super_resolution_config.tool_version',
};

/**
 * Options of generators whose names resemble a field. Inside `metadata` they are valid options, not
 * misspellings.
 */
const generatorOptions = ['audio', 'video', 'speed'];

export function isGeneratorOption(name: string): boolean {
  return generatorOptions.includes(name.toLowerCase());
}

/**
 * At most this many unknown names of one object are compared, each with every known name. A body
 * with more of them is not a spelling mistake.
 */
export const comparedMax = 100;
/**
 * Longer names are not compared. No known name is nearly as long, and the cost grows with the
 * product of both lengths.
 */
export const comparedCharsMax = 40;

/** The known name that `name` resembles; undefined if there is none. */
export function resembled(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedCharsMax) return undefined;
  const plain = plainOf(name);
  const same = sameLettersAs(plain, known);
  if (same !== undefined) return same;
  const [nearest] = known
    .filter((candidate) => mayResemble(plain, plainKnown(candidate)))
    .map((candidate) => ({ candidate, edits: editsBetween(plain, plainKnown(candidate)) }))
    .filter(({ candidate, edits }) => edits <= editsMax(plainKnown(candidate)))
    .sort((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}

/** The known name that differs from `name` only in case or separators. */
export function otherSpellingOf(name: string, known: readonly string[]): string | undefined {
  return sameLettersAs(plainOf(name), known);
}

function sameLettersAs(plain: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => plainKnown(candidate) === plain);
}

/** The full path of the field that other APIs call `name`. */
export function synonymOf(name: string): string | undefined {
  const plain = plainOf(name);
  return Object.hasOwn(synonyms, plain) ? synonyms[plain] : undefined;
}

// These two options are never sent to a generator. So another word for one of them inside
// `metadata` is never an option of a generator.
const serviceOptions = ['metadata.callback_url', 'metadata.super_resolution_config'];

/** The full path of the option of this service that other APIs call `name`. */
export function serviceOptionOf(name: string): string | undefined {
  const meant = synonymOf(name);
  return serviceOptions.some((option) => meant?.startsWith(option)) ? meant : undefined;
}

/** `aspectRatio`, `Aspect-Ratio` and `aspect_ratio` are one name. */
function plainOf(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, '');
}

const plainNames = new Map<string, string>();

/**
 * The plain form of a known field, cached because each name of a body is compared with all fields.
 */
function plainKnown(known: string): string {
  const plain = plainNames.get(known) ?? plainOf(known);
  plainNames.set(known, plain);
  return plain;
}

// Short names resemble many words with another meaning: `mode` and `code` differ in one letter. In
// a short name only one letter may be wrong, and not the first.
const longName = 8;

function editsMax(known: string): number {
  return known.length >= longName ? 2 : 1;
}

/** A cheap test before the edit distance, for bodies with thousands of names. */
function mayResemble(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > editsMax(known)) return false;
  return known.length >= longName || name[0] === known[0];
}

/** Edit distance: letters added, removed, replaced, or swapped with their neighbour. */
export function editsBetween(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = a[row - 1] === b[column - 1] ? 0 : 1;
      const exchanged =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        rows[row - 1]![column]! + 1,
        current[column - 1]! + 1,
        rows[row - 1]![column - 1]! + replaced,
        exchanged ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(current);
  }
  return rows[a.length]![b.length]!;
}
