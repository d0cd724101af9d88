// Faults of one request: their order, which of them only follow from another, and how many become
// one answer. The order is that of the document's tables, so that the first fault is the one a
// reader of the document meets first.

import type { Refusal } from './error';

const documentOrder = [
  'model',
  'prompt',
  'mode',
  'input_type',
  'image',
  'images',
  'videos',
  'audios',
  'resolution',
  'ratio',
  'size',
  'duration',
  'seconds',
  'metadata',
] as const;

const metadataOrder = [
  'generate_audio',
  'watermark',
  'draft',
  'seed',
  'return_last_frame',
  'execution_expires_after',
  'tools',
  'super_resolution_config',
  'callback_url',
  'safety_identifier',
  'input_video_duration',
] as const;

const superResolutionOrder = [
  'resolution',
  'resolution_limit',
  'scene',
  'tool_version',
  'fps',
] as const;

const orders: readonly (readonly string[])[] = [documentOrder, metadataOrder, superResolutionOrder];

// A judgement on the left rests on the fields on the right; where one of those is already at fault
// it would only repeat that fault, or blame a default the caller never asked for. A mode that
// cannot be read leaves open which model is meant.
const restsOn: Readonly<Record<string, readonly string[]>> = {
  resolution: ['mode'],
  ratio: ['mode'],
  duration: ['mode'],
  'metadata.generate_audio': ['mode'],
  'metadata.draft': ['mode'],
  'metadata.return_last_frame': ['mode'],
  'metadata.tools': ['mode'],
  input_type: ['images', 'image', 'videos', 'audios'],
  images: ['input_type', 'image'],
  videos: ['input_type'],
  audios: ['input_type'],
  size: ['resolution', 'mode'],
  'metadata.super_resolution_config': ['resolution', 'size', 'ratio', 'metadata.draft', 'mode'],
};

/**
 * The faults of shape and those of the plan made from what was readable, without echoes, in the
 * document's order.
 */
export function combineFaults(shape: readonly Refusal[], plan: readonly Refusal[]): Refusal[] {
  if (shape.length === 0 && plan.length < 2) return [...plan];
  const faulty = new Set<string>();
  for (const { param } of shape) for (const path of pathsOf(param)) faulty.add(path);
  const own = plan.filter(({ param }) => {
    if (shape.some((fault) => fault.param === param)) return false;
    const rests = pathsOf(param).flatMap((path) => restsOn[path] ?? []);
    return !rests.some((path) => faulty.has(path));
  });
  return sortFaults([...shape, ...own]);
}

function sortFaults(faults: readonly Refusal[]): Refusal[] {
  return faults
    .map((fault) => ({ fault, rank: rankOf(fault.param) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ fault }) => fault);
}

/** One answer for all of them: every message, one a line; code and param of the first. */
export function oneRefusal(faults: readonly Refusal[]): Refusal {
  const first = faults[0];
  if (!first) throw new Error('Assertion failed: there is a fault to report');
  if (faults.length === 1) return first;
  return { ...first, message: faults.map(({ message }) => message).join('\n') };
}

function segments(param: string): string[] {
  return param.split(/[.[\]]+/).filter(Boolean);
}

/** `metadata.tools[0].type` → `metadata`-less prefixes a rule may name: `metadata.tools`, … */
function pathsOf(param: string): string[] {
  const parts = segments(param);
  const [first, second] = parts;
  if (first === undefined) return [];
  return first === 'metadata' && second !== undefined ? [`metadata.${second}`] : [first];
}

function rankOf(param: string): number[] {
  return segments(param).map((part, depth) => {
    const position = orders[depth]?.indexOf(part) ?? -1;
    if (position >= 0) return position;
    const index = Number(part);
    return Number.isNaN(index) ? 1000 : index;
  });
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let depth = 0; depth < Math.max(a.length, b.length); depth += 1) {
    const difference = (a[depth] ?? -1) - (b[depth] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
