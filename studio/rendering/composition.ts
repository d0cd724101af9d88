/*
 * Turns a composition (a stack of moving layers) into the arguments of one ffmpeg call. Each
 * picture is decoded once and repeated, which is fast. Positions are ffmpeg expressions over the
 * time `t` in seconds. These expressions never contain the caller's text.
 */

import type { Size } from '../jobs/models';
import { FPS } from '../jobs/models';

export interface Layer {
  /** The input arguments for ffmpeg: `-i file` for a picture; a clip also has format options. */
  input: string[];
  /** Filters of this layer only. */
  filters?: string[];
  x: string;
  y: string;
}

export interface Composition {
  /** Layers are composed at the size `canvas`. The result is scaled to `size` for the file. */
  canvas: Size;
  size: Size;
  seconds: number;
  /** The number of frames. The sound ends with `seconds`. */
  frames: number;
  layers: Layer[];
  /** Layers that appear in the video but not in the PNG of the last frame. */
  overlays: Layer[];
  /**
   * The clips of the soundtrack, one after another. An empty list means a tone, undefined means no
   * sound.
   */
  sound: string[][] | undefined;
  videoFile: string;
  lastFrameFile: string | undefined;
}

export function ffmpegArguments(composition: Composition): string[] {
  const all = [...composition.layers, ...composition.overlays];
  const { canvas, size, seconds, frames } = composition;
  const scale = `scale=${size.width}:${size.height},setsar=1`;
  const ground = `color=c=black:s=${canvas.width}x${canvas.height}:r=${FPS}:d=${seconds + 1}`;
  const inputs = ['-f', 'lavfi', '-i', ground, ...all.flatMap((layer) => layer.input)];
  const graph: string[] = [];
  let last = '0:v';
  const addLayer = (layer: Layer, at: number) => {
    const filters = [...(layer.filters ?? []), 'format=yuva420p'].join(',');
    const options = `x='${layer.x}':y='${layer.y}':eof_action=repeat`;
    graph.push(`[${at + 1}:v]${filters}[p${at}]`, `[${last}][p${at}]overlay=${options}[o${at}]`);
    last = `o${at}`;
  };
  composition.layers.forEach((layer, at) => {
    addLayer(layer, at);
  });
  // The filter `trim` sets the number of frames, because `-frames:v` may cut the sound short.
  graph.push(`[${last}]setsar=1,trim=end_frame=${frames}[plain]`);
  last = 'plain';
  if (composition.lastFrameFile !== undefined) {
    graph.push('[plain]split[plain1][plain2]');
    graph.push(`[plain2]select='eq(n,${frames - 1})',setpts=0,${scale},format=rgb24[still]`);
    last = 'plain1';
  }
  composition.overlays.forEach((layer, at) => {
    addLayer(layer, composition.layers.length + at);
  });
  graph.push(`[${last}]${scale},format=yuv420p[video]`);
  const sound = soundArguments(composition, 1 + all.length);
  graph.push(...sound.graph);
  return [
    ...['-loglevel', 'error', ...inputs, ...sound.inputs],
    ...['-filter_complex', graph.join(';'), '-map', '[video]', ...sound.map],
    ...['-r', String(FPS), ...encoder(size)],
    ...['-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact'],
    ...['-f', 'mp4', composition.videoFile],
    ...(composition.lastFrameFile === undefined
      ? []
      : ['-map', '[still]', '-f', 'image2', composition.lastFrameFile]),
  ];
}

/** Videos of about full HD or more use a faster preset, which makes the file a tenth larger. */
export function encoder({ width, height }: Size): string[] {
  const preset = width * height > 1_500_000 ? 'ultrafast' : 'superfast';
  return ['-c:v', 'libx264', '-preset', preset, '-crf', '22', '-g', '48', '-pix_fmt', 'yuv420p'];
}

function soundArguments({ sound, seconds }: Composition, firstInput: number) {
  if (!sound) return { inputs: [], graph: [], map: ['-an'] };
  const tone = ['-f', 'lavfi', '-i', `sine=frequency=262:duration=${seconds}`];
  const clips = sound.length > 0 ? sound : [tone];
  const even = 'aresample=48000,aformat=sample_fmts=fltp:channel_layouts=mono';
  const graph = clips.map((_, at) => `[${firstInput + at}:a]${even}[c${at}]`);
  const joined = `${clips.map((_, at) => `[c${at}]`).join('')}concat=n=${clips.length}:v=0:a=1`;
  graph.push(`${joined},apad,atrim=0:${seconds}[sound]`);
  const map = ['-map', '[sound]', '-c:a', 'aac', '-b:a', '96k'];
  return { inputs: clips.flat(), graph, map };
}
