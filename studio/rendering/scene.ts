/*
 * The background scene of a video: sky, sun and three rows of hills, drawn as SVG. Everything
 * follows from prompt and seed, so the same request always gives the same frames. A drawing contains
 * only numbers and fixed words, never the caller's text.
 */

import type { Size } from '../jobs/models';
import { even } from '../jobs/models';
import type { SeededRandom } from './seeded-random';
import { createRandom } from './seeded-random';

/** One drawing and its position; `travel` is how far it moves to the right during the video. */
export interface Part {
  svg: string;
  left: number;
  top: number;
  travel: number;
}

/** Prompt words, with the hues of the sky (top and horizon) and of the hills, in degrees. */
const THEMES = [
  {
    words: /\b(sea|ocean|beach|wave|boat|ship|fish|lake|river|rain)/i,
    sky: [215, 190],
    hills: 205,
  },
  {
    words: /\b(night|moon|star|space|galaxy|dark|dream)/i,
    sky: [245, 225],
    hills: 235,
    isDark: true,
  },
  {
    words: /\b(city|street|neon|car|robot|tower|tokyo)/i,
    sky: [260, 315],
    hills: 255,
    isDark: true,
  },
  { words: /\b(snow|ice|winter|frozen|mountain|cold)/i, sky: [215, 200], hills: 215 },
  { words: /\b(fire|sunset|sunrise|desert|autumn|golden|dawn|dusk)/i, sky: [225, 28], hills: 335 },
  { words: /\b(forest|tree|garden|grass|jungle|green|flower)/i, sky: [195, 165], hills: 140 },
];

export function drawScene(prompt: string, seed: number, canvas: Size): Part[] {
  const random = createRandom(prompt, seed);
  const theme = THEMES.find(({ words }) => words.test(prompt)) ?? {
    sky: [random.between(190, 280), random.between(160, 400)],
    hills: random.between(0, 360),
  };
  const isDark = 'isDark' in theme;
  const turn = random.between(-12, 12);
  const sky = [
    hsl(theme.sky[0]! + turn, 60, isDark ? 8 : random.between(48, 62)),
    hsl(theme.sky[1]! + turn, 75, isDark ? random.between(24, 40) : 80),
  ] as const;
  const { width, height } = canvas;
  const direction = random.pick([1, -1]);
  const side = Math.round(Math.min(width, height) * random.between(0.5, 0.7));
  const sun: Part = {
    svg: drawSun(side),
    left: random.between(0.15, 0.85) * width - side / 2,
    top: random.between(0.1, 0.4) * height - side / 2,
    travel: direction * width * 0.06,
  };
  const hills = [0, 1, 2].map((depth): Part => {
    const travel = width * (0.05 + depth * 0.1);
    const size = { width: even(width + travel), height: even(height * (0.5 - depth * 0.12)) };
    const color = hsl(theme.hills + turn + depth * 8, 45, 46 - depth * 14);
    return {
      svg: drawHills(size, color, depth, random),
      left: direction > 0 ? -travel : 0,
      top: height - size.height,
      travel: direction * travel,
    };
  });
  return [{ svg: drawSky(canvas, sky), left: 0, top: 0, travel: 0 }, sun, ...hills];
}

/** The scene as one still picture. */
export function drawStill(prompt: string, seed: number, canvas: Size): string {
  const placed = drawScene(prompt, seed, canvas).map(({ svg, left, top }) => {
    return svg.replace('<svg', `<svg x="${left}" y="${top}"`);
  });
  return picture(canvas, placed.join(''));
}

function drawSky(size: Size, [top, bottom]: readonly string[]): string {
  const stops = `<stop stop-color="${top}"/><stop offset="0.75" stop-color="${bottom}"/>`;
  const gradient = `<linearGradient id="sky" x2="0.15" y2="1">${stops}</linearGradient>`;
  return picture(size, `${gradient}<rect width="100%" height="100%" fill="url(#sky)"/>`);
}

function drawSun(side: number): string {
  const glow = ['0.6', '0.15', '0'].map(
    (opacity, at) =>
      `<stop offset="${0.2 + at * 0.4}" stop-color="#fff3c4" stop-opacity="${opacity}"/>`,
  );
  const middle = `cx="${side / 2}" cy="${side / 2}"`;
  return picture(
    { width: side, height: side },
    `<radialGradient id="glow">${glow.join('')}</radialGradient>
    <circle ${middle} r="${side / 2}" fill="url(#glow)"/>
    <circle ${middle} r="${side / 6}" fill="#fff3c4"/>`,
  );
}

/** The outline is the sum of a broad and a fine wave. */
function drawHills(
  { width, height }: Size,
  color: string,
  depth: number,
  random: SeededRandom,
): string {
  const wave = (count: number) => {
    const [phase, turns] = [random.between(0, 6.28), random.between(count, count + 1.5)];
    return (x: number) => Math.sin((x / width) * turns * 6.28 + phase);
  };
  const [broad, fine] = [wave(1.5 + depth), wave(4 + depth)];
  let path = `M0 ${height}`;
  for (let x = 0; x < width + 8; x += 8) {
    path += `L${x} ${(height * (0.4 - broad(x) * 0.3 - fine(x) * 0.08)).toFixed(1)}`;
  }
  return picture({ width, height }, `<path d="${path}V${height}z" fill="${color}"/>`);
}

function picture({ width, height }: Size, inner: string): string {
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${inner}</svg>`;
}

function hsl(hue: number, saturation: number, lightness: number): string {
  return `hsl(${((hue % 360) + 360) % 360},${saturation}%,${lightness}%)`;
}
