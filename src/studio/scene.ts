/*
 * What a prompt looks like: a theme found by its words (or thrown by the seed when none is known),
 * its colours, what stands on the horizon, what hangs and floats in the sky, and how it all moves.
 * Pure: the same prompt and seed always give the same scene.
 */

import type { Dice } from './random';
import { createDice } from './random';

export type Land = 'hills' | 'waves' | 'city' | 'trees' | 'peaks';
type Particles = 'stars' | 'snow' | 'embers' | 'none';

export interface Scene {
  skyTop: string;
  skyBottom: string;
  orb: { color: string; x: number; y: number; radius: number; drift: number };
  /** Far to near; each nearer one moves faster. */
  layers: { color: string; height: number; travel: number; bob: number }[];
  land: Land;
  particles: Particles;
  /** -1 to the left, 1 to the right. */
  direction: 1 | -1;
  /** Frequencies of the sound's chord, in Hz. */
  chord: number[];
  dice: Dice;
}

interface Theme {
  words: RegExp;
  /** Hue of the sky's top, of its horizon, of the land; in degrees. */
  hues: readonly [number, number, number];
  isDark: boolean;
  lands: readonly Land[];
  particles: readonly Particles[];
}

const THEMES: readonly Theme[] = [
  {
    words: /\b(sea|ocean|beach|wave|waves|ship|boat|fish|whale|lake|river|water|rain|surf\w*)\b/i,
    hues: [205, 180, 200],
    isDark: false,
    lands: ['waves'],
    particles: ['none'],
  },
  {
    words: /\b(night|moon\w*|star|stars|space|galaxy|dark|dream\w*|midnight|owl)\b/i,
    hues: [245, 275, 235],
    isDark: true,
    lands: ['hills', 'peaks', 'trees'],
    particles: ['stars'],
  },
  {
    words: /\b(city|street|neon|car|cars|robot\w*|cyber\w*|tower|tokyo|skyline|urban|train)\b/i,
    hues: [260, 320, 245],
    isDark: true,
    lands: ['city'],
    particles: ['stars', 'embers'],
  },
  {
    words: /\b(snow\w*|ice|winter|frozen|arctic|penguin\w*|mountain\w*|alps|cold)\b/i,
    hues: [210, 195, 215],
    isDark: false,
    lands: ['peaks'],
    particles: ['snow'],
  },
  {
    words: /\b(fire|sunset|sunrise|desert|lava|volcano|dragon|autumn|golden|dawn|dusk|warm)\b/i,
    hues: [265, 25, 345],
    isDark: false,
    lands: ['hills', 'peaks'],
    particles: ['embers', 'none'],
  },
  {
    words: /\b(forest|tree|trees|garden|grass|jungle|meadow|green|flower\w*|leaf|leaves|park)\b/i,
    hues: [190, 85, 140],
    isDark: false,
    lands: ['trees', 'hills'],
    particles: ['none', 'embers'],
  },
];

const ROOTS_HZ = [110, 123.47, 130.81, 146.83, 164.81, 174.61];
const CHORDS = [
  [1, 1.5, 2, 2.5],
  [1, 1.5, 2, 2.4],
  [1, 1.5, 2, 2.25],
  [1, 1.334, 2, 2.667],
];

export function designScene(prompt: string, seed: number): Scene {
  const dice = createDice(prompt, seed);
  const theme = recognise(prompt) ?? invent(dice);
  const [top, horizon, ground] = theme.hues.map((hue) => hue + dice.between(-14, 14));
  const light = theme.isDark ? { top: 10, bottom: 34, far: 24 } : { top: 42, bottom: 78, far: 52 };
  const direction = dice.pick([1, -1] as const);
  const root = dice.pick(ROOTS_HZ);
  return {
    skyTop: hsl(top!, 62, light.top),
    skyBottom: hsl(horizon!, 70, light.bottom),
    orb: {
      color: theme.isDark ? hsl(50, 60, 92) : hsl(46, 100, 86),
      x: dice.between(0.18, 0.82),
      y: dice.between(0.16, 0.42),
      radius: dice.between(0.07, 0.12),
      drift: dice.between(0.03, 0.08),
    },
    layers: [0, 1, 2].map((depth) => ({
      color: hsl(ground! + depth * 6, 46 - depth * 3, light.far - depth * (light.far * 0.32)),
      height: 0.46 - depth * 0.11 + dice.between(-0.02, 0.02),
      travel: (0.05 + depth * 0.1) * dice.between(0.85, 1.3),
      bob: theme.lands.includes('waves') ? 0.008 + depth * 0.004 : 0,
    })),
    land: dice.pick(theme.lands),
    particles: dice.pick(theme.particles),
    direction,
    chord: dice.pick(CHORDS).map((step) => Math.round(root * step * 100) / 100),
    dice,
  };
}

/** The theme whose word comes first: what a prompt begins with is what it is about. */
function recognise(prompt: string): Theme | undefined {
  const found = THEMES.map((theme) => ({ theme, at: prompt.search(theme.words) }));
  return found.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0]?.theme;
}

/** No known word: the seed chooses freely. */
function invent(dice: Dice): Theme {
  const hue = dice.between(0, 360);
  const isDark = dice.next() < 0.35;
  return {
    words: /$^/,
    hues: [hue, hue + dice.between(25, 70), hue + dice.between(-30, 30)],
    isDark,
    lands: ['hills', 'waves', 'peaks', 'trees', 'city'],
    particles: isDark ? ['stars', 'embers'] : ['none', 'embers'],
  };
}

function hsl(hue: number, saturation: number, lightness: number): string {
  const h = (((hue % 360) + 360) % 360) / 30;
  const l = lightness / 100;
  const reach = (saturation / 100) * Math.min(l, 1 - l);
  const channel = (offset: number) => {
    const k = (offset + h) % 12;
    const value = l - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
