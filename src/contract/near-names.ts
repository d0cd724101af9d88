// Recognises misspelt field names: another case, one or two wrong letters, or the name in another
// API. A misspelt name is refused. If it were ignored, the caller would pay for a video that the
// caller did not want.

/**
 * Field names of other APIs, in lower case without separators. Only these names count as synonyms.
 */
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
  img: 'images',
  imgs: 'images',
  inputimage: 'images',
  referenceimage: 'images',
  imageurl: 'images',
  imageurls: 'images',
  firstframe: 'images',
  firstframeurl: 'images',
  lastframe: 'images',
  lastframeurl: 'images',
  startimage: 'images',
  endimage: 'images',
  referenceimages: 'images',
  vid: 'videos',
  vids: 'videos',
  inputvideo: 'videos',
  referencevideo: 'videos',
  videourl: 'videos',
  videourls: 'videos',
  referencevideos: 'videos',
  inputaudio: 'audios',
  referenceaudio: 'audios',
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
 * In each object at most this many unknown names are compared with the known names. If one object
 * has more unknown names, they are not spelling mistakes.
 */
export const comparedMax = 100;
/**
 * Names with more characters are not compared. All known names are much shorter, and the cost of a
 * comparison grows with the product of both lengths.
 */
export const comparedCharsMax = 40;

/** Returns the known name that `name` resembles, or undefined if there is none. */
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

/** Returns the known name that equals `name` without regard to case and separators, if any. */
export function otherSpellingOf(name: string, known: readonly string[]): string | undefined {
  return sameLettersAs(plainOf(name), known);
}

function sameLettersAs(plain: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => plainKnown(candidate) === plain);
}

/** Returns the full path of the field that other APIs call `name`, or undefined. */
export function synonymOf(name: string): string | undefined {
  const plain = plainOf(name);
  return Object.hasOwn(synonyms, plain) ? synonyms[plain] : undefined;
}

// The service handles these two options itself and never sends them to a generator. So a synonym of
// such an option in `metadata` is a wrong name and not an option of a generator.
const serviceOptions = ['metadata.callback_url', 'metadata.super_resolution_config'];

/**
 * If other APIs use `name` for an option in `serviceOptions`, returns the full path of this option;
 * otherwise undefined.
 */
export function serviceOptionOf(name: string): string | undefined {
  const meant = synonymOf(name);
  return serviceOptions.some((option) => meant?.startsWith(option)) ? meant : undefined;
}

/** `aspectRatio`, `Aspect-Ratio` and `aspect_ratio` count as the same name. */
export function plainOf(name: string): string {
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
// a name with fewer than eight letters only one letter may be wrong, and not the first letter, which
// may be missing: `mages`.
const longName = 8;

function editsMax(known: string): number {
  return known.length >= longName ? 2 : 1;
}

/** A cheap test that avoids most computations of the edit distance. */
function mayResemble(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > editsMax(known)) return false;
  return known.length >= longName || name[0] === known[0] || name === known.slice(1);
}

/**
 * The edit distance: the number of letters that are added, removed, replaced, or swapped with their
 * neighbour.
 */
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
