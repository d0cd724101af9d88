/*
 * The abilities of each model, and the size in pixels of each resolution and ratio. All figures are
 * those of the real models, so that bills agree with those of the provider.
 */

export const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;
export type Ratio = (typeof RATIOS)[number];

export const RESOLUTIONS = ['480p', '720p', '1080p', '2k', '4k'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Every generated video has this many frames a second. */
export const FPS = 24;

export interface Size {
  width: number;
  height: number;
}

export interface Model {
  name: string;
  resolutions: readonly Resolution[];
  durations: { min: number; max: number; canChoose: boolean };
  /**
   * `ends`: the model takes a first and a last frame. `middle`: the model also takes frames between
   * the first and the last frame.
   */
  frameImages: { ends: boolean; middle: boolean };
  referenceImagesMax: number;
  takesVideoAndAudio: boolean;
  hasAudio: boolean;
  hasDraft: boolean;
  hasWebSearch: boolean;
  hasLastFrame: boolean;
  sizes: Record<Resolution, Record<Ratio, Size>>;
}

/** The short side of each resolution of an enhancement, in pixels. */
export const TARGET_SHORT_SIDES: Record<string, number> = {
  '720p': 720,
  '1080p': 1080,
  '2k': 1440,
  '4k': 2160,
};

const newerSizes = table({
  '480p': '864x496 752x560 640x640 560x752 496x864 992x432',
  '720p': '1280x720 1112x834 960x960 834x1112 720x1280 1470x630',
  '1080p': '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946',
  '4k': '3840x2160 3326x2494 2880x2880 2494x3326 2160x3840 4398x1886',
});

const olderSizes = table({
  '480p': '864x480 736x544 640x640 544x736 480x864 960x416',
  '720p': '1248x704 1120x832 960x960 832x1120 704x1248 1504x640',
  '1080p': '1920x1088 1664x1248 1440x1440 1248x1664 1088x1920 2176x928',
  '4k': '3840x2160 3326x2494 2880x2880 2494x3326 2160x3840 4398x1886',
});

// MiniMax publishes no sizes. These are the sizes that clients of its API name for each tier.
const minimaxSizes = table({
  '480p': '854x480 640x480 480x480 480x640 480x854 1120x480',
  '720p': '1366x768 1024x768 768x768 768x1024 768x1366 1792x768',
  '2k': '2560x1440 2048x1536 2048x2048 1536x2048 1440x2560 2560x1080',
});

const family20: Omit<Model, 'name' | 'resolutions'> = {
  durations: { min: 4, max: 15, canChoose: true },
  frameImages: { ends: true, middle: true },
  referenceImagesMax: 9,
  takesVideoAndAudio: true,
  hasAudio: true,
  hasDraft: false,
  hasWebSearch: true,
  hasLastFrame: true,
  sizes: newerSizes,
};

const MODELS: readonly Model[] = [
  { ...family20, name: 'studio-2.0', resolutions: ['480p', '720p', '1080p'] },
  { ...family20, name: 'studio-2.0-fast', resolutions: ['480p', '720p'] },
  { ...family20, name: 'studio-2.0-pro', resolutions: ['480p', '720p', '1080p', '4k'] },
  {
    ...family20,
    name: 'studio-1.5-pro',
    resolutions: ['480p', '720p', '1080p'],
    durations: { min: 4, max: 12, canChoose: true },
    frameImages: { ends: true, middle: false },
    referenceImagesMax: 1,
    takesVideoAndAudio: false,
    hasDraft: true,
    hasWebSearch: false,
  },
  {
    ...family20,
    name: 'studio-1.0',
    resolutions: ['480p', '720p'],
    durations: { min: 4, max: 10, canChoose: false },
    frameImages: { ends: false, middle: false },
    referenceImagesMax: 4,
    takesVideoAndAudio: false,
    hasAudio: false,
    hasWebSearch: false,
    hasLastFrame: false,
    sizes: olderSizes,
  },
  {
    ...family20,
    name: 'MiniMax-H3',
    resolutions: ['720p', '2k'],
    durations: { min: 4, max: 15, canChoose: false },
    frameImages: { ends: true, middle: false },
    hasWebSearch: false,
    hasLastFrame: false,
    sizes: minimaxSizes,
  },
  {
    ...family20,
    name: 'MiniMax-H3-Max',
    resolutions: ['480p', '720p'],
    durations: { min: 5, max: 15, canChoose: false },
    frameImages: { ends: true, middle: false },
    referenceImagesMax: 0,
    takesVideoAndAudio: false,
    hasWebSearch: false,
    hasLastFrame: false,
    sizes: minimaxSizes,
  },
];

export function findModel(name: string): Model | undefined {
  return MODELS.find((model) => model.name === name);
}

/**
 * Returns the size of an `adaptive` video, with even sides. The size has the aspect ratio of the
 * given picture and the area of the nearest table entry. If the table contains the picture's ratio,
 * returns that entry.
 */
export function adaptiveSize(sizes: Record<Ratio, Size>, shape: Size): Size {
  const entry = sizes[nearestRatio(shape)];
  const aspect = shape.width / shape.height;
  if (Math.abs(entry.width / entry.height / aspect - 1) < 0.005) return entry;
  const area = entry.width * entry.height;
  return { width: even(Math.sqrt(area * aspect)), height: even(Math.sqrt(area / aspect)) };
}

/**
 * Returns the ratio of the table that is nearest to this size. The reply for an adaptive video
 * contains this ratio.
 */
export function nearestRatio(size: Size): Ratio {
  const aspect = Math.log(size.width / size.height);
  const distance = (ratio: Ratio) => {
    const [wide, high] = ratio.split(':').map(Number);
    return Math.abs(Math.log(wide! / high!) - aspect);
  };
  return RATIOS.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

export function even(value: number): number {
  return Math.max(2, Math.round(value / 2) * 2);
}

function table(rows: Partial<Record<Resolution, string>>): Model['sizes'] {
  const row = (text: string) => {
    const sizes = text.split(' ').map((entry) => {
      const [width, height] = entry.split('x').map(Number);
      return { width: width!, height: height! };
    });
    return Object.fromEntries(RATIOS.map((ratio, at) => [ratio, sizes[at]!]));
  };
  return Object.fromEntries(
    Object.entries(rows).map(([resolution, sizes]) => [resolution, row(sizes)]),
  ) as Model['sizes'];
}
