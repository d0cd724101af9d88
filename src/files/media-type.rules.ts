// The types of files that the generators accept, recognised by their first bytes. The name and the
// headers that come with a file are not trusted.

export type Media = 'image' | 'video' | 'audio';

interface MediaType {
  readonly media: Media;
  readonly contentType: string;
  /** The ending of the file's link, without a dot. */
  readonly ending: string;
}

/** This many bytes are enough to recognise every type. */
export const headBytes = 64;

/** The sizes of the largest files that the generators accept. */
export const mediaBytesMax: Readonly<Record<Media, number>> = {
  image: 30 * 1024 * 1024,
  video: 50 * 1024 * 1024,
  audio: 15 * 1024 * 1024,
};

const of = (media: Media, subtype: string, ending = subtype): MediaType => ({
  media,
  contentType: `${media}/${subtype}`,
  ending,
});
const png = of('image', 'png');
const jpeg = of('image', 'jpeg', 'jpg');
const gif = of('image', 'gif');
const webp = of('image', 'webp');
const bmp = of('image', 'bmp');
const tiff = of('image', 'tiff');
const heic = of('image', 'heic');
const mp4 = of('video', 'mp4');
const mov = of('video', 'quicktime', 'mov');
const wav = of('audio', 'wav');
const mp3 = of('audio', 'mpeg', 'mp3');

const known = [jpeg, png, webp, gif, bmp, tiff, heic, mp4, mov, wav, mp3];

export const acceptedTypes =
  'images in JPEG, PNG, WebP, GIF, BMP, TIFF or HEIC, videos in MP4 or MOV, audio in WAV or MP3';

/** The ending of a link to a file of this type. */
export function endingOf(contentType: string): string {
  return known.find((type) => type.contentType === contentType)?.ending ?? 'bin';
}

/** Null if no accepted type begins with these bytes. */
export function mediaTypeOf(head: Uint8Array): MediaType | null {
  const text = String.fromCharCode(...head.subarray(0, headBytes));
  const part = (from: number, to: number) => text.slice(from, to);
  if (text.startsWith('\xff\xd8\xff')) return jpeg;
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return png;
  if (/^GIF8[79]a/.test(text)) return gif;
  if (text.startsWith('RIFF')) return { WEBP: webp, WAVE: wav }[part(8, 12)] ?? null;
  if (text.startsWith('II*\0') || text.startsWith('MM\0*')) return tiff;
  if (text.startsWith('BM') && part(6, 10) === '\0\0\0\0') return bmp;
  if (part(4, 8) === 'ftyp') return typeOfBrand(part(8, 12));
  // Old QuickTime files have no box `ftyp`.
  if (/^(?:moov|mdat|wide)$/.test(part(4, 8))) return mov;
  return isMp3(text, head) ? mp3 : null;
}

const imageBrands = /^(?:heic|heix|heim|heis|hevc|hevx|mif1|msf1)$/;
// Brands of audio and images in the same container. These types are not accepted.
const otherBrands = /^(?:M4A |M4B |M4P |avif|avis|crx |jp2 )$/;

function typeOfBrand(brand: string): MediaType | null {
  if (imageBrands.test(brand)) return heic;
  if (brand === 'qt  ') return mov;
  return otherBrands.test(brand) ? null : mp4;
}

/**
 * True for an ID3 tag, or for the header of an MPEG layer III frame with a valid bit rate and
 * sample rate.
 */
function isMp3(text: string, [first = 0, second = 0, third = 0]: Uint8Array): boolean {
  if (text.startsWith('ID3')) return true;
  const isLayer3 = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  const bitRate = third >> 4;
  return isLayer3 && bitRate !== 0 && bitRate !== 15 && (third & 0x0c) !== 0x0c;
}
