/*
 * Draws a scene's parts as vector pictures: the sky, what shines in it, the strips of land that
 * slide past one another, and what floats. Only numbers and our own colours go in, never the
 * caller's text.
 */

import type { Size } from './models';
import type { Dice } from './random';
import type { Land, Scene } from './scene';

export function drawSky(scene: Scene, { width, height }: Size): string {
  return svg(
    { width, height },
    `<defs><linearGradient id="s" x1="0" y1="0" x2="0.15" y2="1">
      <stop offset="0" stop-color="${scene.skyTop}"/>
      <stop offset="0.75" stop-color="${scene.skyBottom}"/></linearGradient></defs>
    <rect width="${width}" height="${height}" fill="url(#s)"/>`,
  );
}

/** A disc in a wide glow; the picture is square, its side six radii. */
export function drawOrb(scene: Scene, radius: number): string {
  const side = radius * 6;
  const middle = side / 2;
  return svg(
    { width: side, height: side },
    `<defs><radialGradient id="g">
      <stop offset="0.2" stop-color="${scene.orb.color}" stop-opacity="0.55"/>
      <stop offset="0.5" stop-color="${scene.orb.color}" stop-opacity="0.16"/>
      <stop offset="1" stop-color="${scene.orb.color}" stop-opacity="0"/></radialGradient></defs>
    <circle cx="${middle}" cy="${middle}" r="${middle}" fill="url(#g)"/>
    <circle cx="${middle}" cy="${middle}" r="${radius}" fill="${scene.orb.color}"/>`,
  );
}

export function drawLand(scene: Scene, depth: number, size: Size): string {
  const { color } = scene.layers[depth]!;
  const draw: Record<Land, (size: Size, depth: number, dice: Dice) => string> = {
    hills: drawHills,
    waves: drawWaves,
    peaks: drawPeaks,
    trees: drawTrees,
    city: drawCity,
  };
  const shape = draw[scene.land](size, depth, scene.dice);
  return svg(
    size,
    `<defs><linearGradient id="l" x1="0" y1="0" x2="0" y2="1">
      <stop offset="0" stop-color="${color}"/>
      <stop offset="1" stop-color="${color}" stop-opacity="0.82"/></linearGradient></defs>${shape}`,
  );
}

export function drawParticles(scene: Scene, size: Size): string {
  const { dice } = scene;
  const look = {
    stars: { count: 130, color: '#ffffff', min: 0.7, max: 1.9, reach: 0.6 },
    snow: { count: 170, color: '#ffffff', min: 1.4, max: 4.2, reach: 1 },
    embers: { count: 60, color: '#ffd9a0', min: 1.2, max: 3.4, reach: 1 },
    none: { count: 0, color: '#ffffff', min: 1, max: 1, reach: 1 },
  }[scene.particles];
  const unit = Math.min(size.width, size.height) / 720;
  const dots = Array.from({ length: look.count }, () => {
    const x = Math.round(dice.next() * size.width);
    const y = Math.round(dice.next() * size.height * look.reach);
    const radius = (dice.between(look.min, look.max) * unit).toFixed(2);
    const opacity = dice.between(0.35, 0.95).toFixed(2);
    return `<circle cx="${x}" cy="${y}" r="${radius}" opacity="${opacity}"/>`;
  });
  return svg(size, `<g fill="${look.color}">${dots.join('')}</g>`);
}

function drawHills({ width, height }: Size, depth: number, dice: Dice): string {
  const wave = (reach: number) => ({
    phase: dice.between(0, 6.28),
    length: width / dice.between(reach, reach + 1.5),
  });
  const [broad, fine] = [wave(1.5 + depth), wave(4 + depth)];
  return outline(width, height, (x) => {
    const a = Math.sin((x / broad.length) * 6.28 + broad.phase) * 0.3;
    const b = Math.sin((x / fine.length) * 6.28 + fine.phase) * 0.08;
    return height * (0.4 - a - b);
  });
}

function drawWaves({ width, height }: Size, depth: number, dice: Dice): string {
  const phase = dice.between(0, 6.28);
  const length = height * dice.between(0.5, 0.8) * (1 + depth * 0.3);
  return outline(width, height, (x) => {
    const crest = Math.abs(Math.sin((x / length) * 3.14 + phase));
    return height * (0.16 + (0.14 + depth * 0.02) * crest);
  });
}

/** The lower edge of a snow cap, from left to right: how far across, how far down. */
const SNOW_EDGE = [
  [0.6, -0.3],
  [0.5, 0.5],
  [0.4, -0.4],
  [0.5, 0.2],
] as const;

function drawPeaks({ width, height }: Size, depth: number, dice: Dice): string {
  const step = height * (0.9 - depth * 0.18);
  let points = `0,${height}`;
  let caps = '';
  for (let x = -step * dice.next(); x < width + step; x += step * dice.between(0.6, 1)) {
    const top = height * dice.between(0.02, 0.4);
    const peak = x + step / 2;
    points += ` ${x.toFixed(0)},${(height * 0.75).toFixed(0)} ${peak.toFixed(0)},${top.toFixed(0)}`;
    const cap = height * 0.1;
    const half = (cap * (step / 2)) / (height * 0.75 - top);
    const edge = SNOW_EDGE.map(([across, down]) => `l${half * across} ${cap * down}`).join(' ');
    caps += `<path d="M${peak} ${top} l${-half} ${cap} ${edge} z"/>`;
  }
  const snow = depth < 2 ? `<g fill="#ffffff" opacity="0.75">${caps}</g>` : '';
  points += ` ${width},${height * 0.75} ${width},${height}`;
  return `<polygon points="${points}" fill="url(#l)"/>${snow}`;
}

function drawTrees({ width, height }: Size, depth: number, dice: Dice): string {
  let trees = '';
  const step = height * (0.1 + depth * 0.05);
  for (let x = 0; x < width; x += step * dice.between(0.5, 1.1)) {
    const tall = height * dice.between(0.4, 0.75);
    const wide = tall * 0.34;
    const foot = height * 0.86;
    for (const [from, spread] of [
      [0, 0.55],
      [0.25, 0.8],
      [0.5, 1],
    ] as const) {
      const top = foot - tall + tall * from;
      const bottom = top + tall * 0.5;
      const reach = (wide * spread) / 2;
      const [left, right] = [(x - reach).toFixed(1), (x + reach).toFixed(1)];
      const tip = `${x.toFixed(1)} ${top.toFixed(1)}`;
      trees += `<path d="M${tip}L${right} ${bottom.toFixed(1)}H${left}z"/>`;
    }
  }
  return `<g fill="url(#l)">${trees}</g>${outline(width, height, () => height * 0.84)}`;
}

function drawCity({ width, height }: Size, depth: number, dice: Dice): string {
  let houses = '';
  let windows = '';
  const unit = height * (0.14 + depth * 0.05);
  for (let x = 0; x < width; ) {
    const wide = unit * dice.between(0.7, 1.5);
    const top = height * dice.between(0.05, 0.62);
    houses += rectangle(x, top, wide, height, 0);
    const pane = unit / 7;
    for (let row = top + pane; row < height * 0.95; row += pane * 2) {
      for (let column = x + pane; column < x + wide - pane; column += pane * 2) {
        if (dice.next() > 0.42) continue;
        windows += rectangle(column, row, pane, pane * 1.2, 1);
      }
    }
    x += wide * dice.between(0.95, 1.15);
  }
  const glow = depth === 0 ? 0.25 : 0.65;
  return `<g fill="url(#l)">${houses}</g><g fill="#ffd98a" opacity="${glow}">${windows}</g>`;
}

function rectangle(x: number, y: number, width: number, height: number, digits: number): string {
  const place = `x="${x.toFixed(digits)}" y="${y.toFixed(digits)}"`;
  return `<rect ${place} width="${width.toFixed(digits)}" height="${height.toFixed(digits)}"/>`;
}

function outline(width: number, height: number, top: (x: number) => number): string {
  const step = Math.max(4, Math.round(width / 240));
  let path = `M0 ${height}`;
  for (let x = 0; x <= width + step; x += step) path += `L${x} ${top(x).toFixed(1)}`;
  return `<path d="${path}V${height}z" fill="url(#l)"/>`;
}

function svg({ width, height }: Size, inner: string): string {
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${inner}</svg>`;
}
