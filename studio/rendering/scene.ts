/*
 * Draws the background scene of a video as SVG: sky, sun and three rows of hills. The prompt and
 * the seed determine everything, so the same request always gives the same frames. A drawing
 * contains only numbers and fixed words, never the caller's text.
 */

import { createHash } from 'node:crypto';
import type { Size } from '../jobs/models';
import { even } from '../jobs/models';

/**
 * One drawing and its position. During the video the drawing moves to the right by `travel` pixels.
 */
export interface Part {
  svg: string;
  left: number;
  top: number;
  travel: number;
}

export function drawScene(prompt: string, seed: number, canvas: Size): Part[] {
  const between = createRandom(prompt, seed);
  const light = between(10, 60);
  const sky = [hsl(between(190, 280), 60, light), hsl(between(160, 400), 75, light + 20)];
  const hillHue = between(0, 360);
  const { width, height } = canvas;
  const direction = between(-1, 1) < 0 ? -1 : 1;
  const side = Math.round(Math.min(width, height) * between(0.15, 0.25));
  const sun: Part = {
    svg: drawSun(side),
    left: between(0.15, 0.85) * width - side / 2,
    top: between(0.1, 0.4) * height - side / 2,
    travel: direction * width * 0.06,
  };
  const hills = [0, 1, 2].map((depth): Part => {
    const travel = width * (0.05 + depth * 0.1);
    const size = { width: even(width + travel), height: even(height * (0.5 - depth * 0.12)) };
    const color = hsl(hillHue + depth * 8, 45, 46 - depth * 14);
    return {
      svg: drawHills(size, color, depth, between),
      left: direction > 0 ? -travel : 0,
      top: height - size.height,
      travel: direction * travel,
    };
  });
  return [{ svg: drawSky(canvas, sky), left: 0, top: 0, travel: 0 }, sun, ...hills];
}

/** Returns the scene as one still picture. */
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
  return picture(
    { width: side, height: side },
    `<circle cx="${side / 2}" cy="${side / 2}" r="${side / 2}" fill="#fff3c4"/>`,
  );
}

/** The outline of the hills is the sum of a broad and a fine wave. */
function drawHills(
  { width, height }: Size,
  color: string,
  depth: number,
  between: Between,
): string {
  const wave = (count: number) => {
    const [phase, turns] = [between(0, 6.28), between(count, count + 1.5)];
    return (x: number) => Math.sin((x / width) * turns * 6.28 + phase);
  };
  const [broad, fine] = [wave(1.5 + depth), wave(4 + depth)];
  let path = `M0 ${height}`;
  for (let x = 0; x < width + 8; x += 8) {
    path += `L${x} ${(height * (0.4 - broad(x) * 0.3 - fine(x) * 0.08)).toFixed(1)}`;
  }
  return picture({ width, height }, `<path d="${path}V${height}z" fill="${color}"/>`);
}

export function picture({ width, height }: Size, inner: string): string {
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${inner}</svg>`;
}

function hsl(hue: number, saturation: number, lightness: number): string {
  return `hsl(${hue % 360},${saturation}%,${lightness}%)`;
}

type Between = ReturnType<typeof createRandom>;

/**
 * Returns a source of pseudo-random numbers. The same text and seed always give the same sequence
 * of numbers.
 */
function createRandom(text: string, seed: number) {
  let count = 0;
  return function between(min: number, max: number): number {
    count += 1;
    const digest = createHash('sha256').update(`${seed}\n${count}\n${text}`).digest();
    return min + (digest.readUInt32LE(0) / 2 ** 32) * (max - min);
  };
}
