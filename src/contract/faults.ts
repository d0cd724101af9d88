// Combines the faults of one request into one answer. Drops each fault that only follows from
// another fault, and sorts the others in the order of the tables in the API document.

import type { Refusal } from './error';
import type { Fault } from './field';
import { metadataFields, superResolutionFields } from './metadata-schema';
import { requestFields } from './request-schema';

const orders: readonly (readonly string[])[] = [
  [...Object.keys(requestFields), 'metadata'],
  Object.keys(metadataFields),
  Object.keys(superResolutionFields),
];

// The check of the field on the left depends on the fields on the right. If a field on the right
// has a fault, the plan's fault for the left field is dropped. The dropped fault would repeat the
// first fault, or blame a default that the caller never sent. If `mode` has a fault, the model
// cannot be chosen, so no field that depends on the model can be checked.
const restsOn: Readonly<Record<string, readonly string[]>> = {
  resolution: ['mode'],
  ratio: ['mode'],
  duration: ['mode'],
  seconds: ['mode'],
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
 * Joins the faults of the request's shape and the faults found by the plan. Drops each fault that
 * only follows from another fault.
 */
export function combineFaults(shape: readonly Fault[], plan: readonly Refusal[]): Refusal[] {
  if (shape.length === 0 && plan.length < 2) return [...plan];
  const meant = shape.flatMap((fault) => fault.meant ?? []);
  const faulty = new Set<string>();
  for (const path of [...shape.map(({ param }) => param), ...meant].flatMap(pathsOf)) {
    faulty.add(path);
  }
  const shown = shape.filter((fault) => !isMissingOf(fault, meant));
  const own = plan.filter(({ param }) => {
    if (shape.some((fault) => fault.param === param)) return false;
    const rests = pathsOf(param).flatMap((path) => restsOn[path] ?? []);
    return !rests.some((path) => faulty.has(path));
  });
  return sortFaults([...shown, ...own]);
}

/**
 * True if the field is missing only because its name, or the name of a field inside it, was
 * misspelt.
 */
function isMissingOf({ code, param }: Fault, meant: readonly string[]): boolean {
  if (code !== 'missing_required_parameter') return false;
  return meant.some((path) => path === param || path.startsWith(`${param}.resolution`));
}

/**
 * Sorts the faults by the positions of their fields. For a misspelt name, this is the position of
 * the field that was meant.
 */
function sortFaults(faults: readonly Fault[]): Refusal[] {
  return faults
    .map((fault) => ({ fault, rank: rankOf(fault.meant ?? fault.param) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ fault: { code, param, message } }) => ({ code, param, message }));
}

// The maximum number of messages. It is above the number of fields, and far below the number of
// names that a body can have.
const messagesMax = 50;

/**
 * One refusal for all faults: one message per line, with the code and the param of the first fault.
 */
export function oneRefusal(faults: readonly Refusal[]): Refusal {
  const first = faults[0];
  if (!first) throw new Error('Assertion failed: there is a fault to report');
  if (faults.length === 1) return first;
  const messages = faults.slice(0, messagesMax).map(({ message }) => message);
  const left = faults.length - messages.length;
  if (left > 0) messages.push(`There are ${left} more faults like these.`);
  return { ...first, message: messages.join('\n') };
}

function segments(param: string): string[] {
  return param.split(/[.[\]]+/).filter(Boolean);
}

/**
 * The segments of the path that `restsOn` contains for this parameter: `metadata.tools[0].type`
 * becomes `metadata.tools`, and `images[3]` becomes `images`.
 */
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
