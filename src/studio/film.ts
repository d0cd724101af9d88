/*
 * A film is a stack of pictures that move over a ground; this room turns the stack into one ffmpeg
 * call. Every picture is decoded once and repeated, which is what makes five seconds take two.
 * Positions are ffmpeg expressions over `t`, in seconds; they hold numbers of ours only.
 */

import type { Size } from './models';

export interface Layer {
  /** What stands before the filters: `-i file`, or a clip with its format. */
  input: string[];
  /** Filters of this layer alone, before it is laid on the others. */
  filters?: string[];
  x: string;
  y: string;
}

export interface Film {
  /** The size composed at, and the size of the file. */
  canvas: Size;
  size: Size;
  fps: number;
  frames: number;
  background: string;
  layers: Layer[];
  /** Filters over the whole picture, and layers that the last frame is spared. */
  finish: string[];
  overlays: Layer[];
  sound: Sound | undefined;
  videoFile: string;
  lastFrameFile: string | undefined;
}

export type Sound = { clips: string[][] } | { chord: readonly number[] };

export function filmArguments(film: Film): string[] {
  const seconds = film.frames / film.fps;
  const all = [...film.layers, ...film.overlays];
  const { width, height } = film.canvas;
  const ground = `color=c=${film.background}:s=${width}x${height}:r=${film.fps}:d=${seconds + 1}`;
  const inputs = ['-f', 'lavfi', '-i', ground, ...all.flatMap((layer) => layer.input)];
  const graph: string[] = [];
  let last = '0:v';
  const lay = (layer: Layer, at: number) => {
    const filters = [...(layer.filters ?? []), 'format=yuva420p'].join(',');
    const options = `x='${layer.x}':y='${layer.y}':eof_action=repeat`;
    graph.push(`[${at + 1}:v]${filters}[p${at}]`, `[${last}][p${at}]overlay=${options}[o${at}]`);
    last = `o${at}`;
  };
  film.layers.forEach((layer, at) => {
    lay(layer, at);
  });
  // Cut here and not with `-frames:v`, which would end the sound with the last picture, or long
  // before.
  const cut = `trim=end_frame=${film.frames}`;
  graph.push(`[${last}]${[...film.finish, 'setsar=1', cut].join(',')}[plain]`);
  last = 'plain';
  if (film.lastFrameFile !== undefined) {
    graph.push('[plain]split[plain1][plain2]');
    graph.push(`[plain2]${stillFilters(film)}[still]`);
    last = 'plain1';
  }
  film.overlays.forEach((layer, at) => {
    lay(layer, film.layers.length + at);
  });
  graph.push(`[${last}]${scaleTo(film)}format=yuv420p[video]`);
  const sound = soundArguments(film, 1 + all.length, seconds);
  graph.push(...sound.graph);
  return [
    ...['-loglevel', 'error', ...inputs, ...sound.inputs],
    ...['-filter_complex', graph.join(';'), '-map', '[video]', ...sound.map],
    ...['-r', String(film.fps), ...encoder(film.size)],
    ...['-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact'],
    ...['-f', 'mp4', film.videoFile],
    ...(film.lastFrameFile === undefined
      ? []
      : ['-map', '[still]', '-f', 'image2', film.lastFrameFile]),
  ];
}

/** A picture shown from `start`, growing out of nothing within `seconds`. */
export function fadeIn(fps: number, start: number, seconds: number): string[] {
  return [...repeat(fps), `fade=t=in:st=${start.toFixed(3)}:d=${seconds.toFixed(3)}:alpha=1`];
}

export function fadeOut(start: number, seconds: number): string[] {
  return [`fade=t=out:st=${start.toFixed(3)}:d=${seconds.toFixed(3)}:alpha=1`];
}

/** Makes an endless clip of one picture; needed only where the picture itself changes. */
function repeat(fps: number): string[] {
  return ['format=yuva420p', 'loop=loop=-1:size=1:start=0', `setpts=N/(${fps}*TB)`];
}

/** x264: from full HD on, speed matters more than a tenth of the size. */
export function encoder({ width, height }: Size): string[] {
  const preset = width * height > 1_500_000 ? 'ultrafast' : 'superfast';
  const base = ['-c:v', 'libx264', '-preset', preset, '-pix_fmt', 'yuv420p'];
  return [...base, '-crf', preset === 'ultrafast' ? '23' : '21', '-g', '48'];
}

function scaleTo({ canvas, size }: Film): string {
  const isSame = canvas.width === size.width && canvas.height === size.height;
  return isSame ? '' : `scale=${size.width}:${size.height}:flags=bicubic,setsar=1,`;
}

function stillFilters(film: Film): string {
  return `select='eq(n,${film.frames - 1})',setpts=0,${scaleTo(film)}format=rgb24`;
}

function soundArguments(film: Film, firstInput: number, seconds: number) {
  const { sound } = film;
  if (!sound) return { inputs: [], graph: [], map: ['-an'] };
  const tail = Math.max(0, seconds - 0.5);
  const shape = [
    'aresample=48000',
    'aformat=sample_fmts=fltp:channel_layouts=mono',
    'apad',
    `atrim=0:${seconds.toFixed(4)}`,
    `afade=t=out:st=${tail.toFixed(3)}:d=0.5[sound]`,
  ].join(',');
  const map = ['-map', '[sound]', '-c:a', 'aac', '-b:a', '96k', '-ac', '1', '-ar', '48000'];
  if ('clips' in sound) {
    const parts = sound.clips.map((_, at) => `[c${at}]`).join('');
    const even = 'aresample=48000,aformat=sample_fmts=fltp:channel_layouts=mono';
    const joined = sound.clips.map((_, at) => `[${firstInput + at}:a]${even}[c${at}]`);
    const graph = [...joined, `${parts}concat=n=${sound.clips.length}:v=0:a=1,${shape}`];
    return { inputs: sound.clips.flat(), graph, map };
  }
  const voices = sound.chord.map((hertz, at) => {
    const slow = (0.11 + at * 0.07).toFixed(2);
    const swell = `(0.6+0.4*sin(2*PI*${slow}*t+${at}))`;
    return `${(0.16 / (at + 1)).toFixed(3)}*sin(2*PI*${hertz}*t)*${swell}`;
  });
  const tone = `aevalsrc='${voices.join('+')}':s=48000:d=${(seconds + 0.1).toFixed(3)}`;
  return {
    inputs: ['-f', 'lavfi', '-i', tone],
    graph: [`[${firstInput}:a]afade=t=in:d=0.8,${shape}`],
    map,
  };
}
