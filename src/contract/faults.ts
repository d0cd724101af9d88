// Puts the faults of one request into one answer.

import type { Refusal } from './error';
import type { Fault } from './field';
import { metadataFields, superResolutionFields } from './metadata-schema';
import { requestFields } from './request-schema';

const orders: readonly (readonly string[])[] = [
  [...Object.keys(requestFields), 'metadata'],
  Object.keys(metadataFields),
  Object.keys(superResolutionFields),
];

/**
 * The faults to report, in the order of the tables in the API document. A field that is missing only
 * because its name was misspelt is not reported as missing.
 */
export function reportedFaults(faults: readonly Fault[]): Refusal[] {
  if (faults.length < 2) return [...faults].map(withoutMeant);
  const meant = faults.flatMap((fault) => fault.meant ?? []);
  return sortFaults(faults.filter((fault) => !isMissingOf(fault, meant)));
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
    .map(({ fault }) => withoutMeant(fault));
}

function withoutMeant({ code, param, message }: Fault): Refusal {
  return { code, param, message };
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
