// Reads `metadata.labels`: a caller's own labels for a task. The service stores the labels and does
// not send them to a generator.

import { z } from 'zod';
import type { Fault, Field } from './field';
import { invalid, isAbsent, show } from './field';
import type { Labels } from './request';
import { isJsonObject, withoutNul } from './safe-json';

const labelsMax = 16;
const valueCharsMax = 64;
const nameShape = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

const wantedName =
  'is no name of a label: 1 to 40 letters, digits, "_", "." and "-", the first a letter or digit';
const wantedValue = `must be a string of 1 to ${valueCharsMax} characters`;

const labelNameSchema = z.string().regex(nameShape);
const labelValueSchema = z.string().min(1).max(valueCharsMax).regex(withoutNul);

export const labelsField: Field = {
  schema: z.record(labelNameSchema, labelValueSchema.nullable()).meta({
    description: `Up to ${labelsMax} names with texts. The task and its callback show them, lists filter by them, and the generator does not get them.`,
    example: { order: '4711', team: 'marketing' },
  }),
  wanted: `must be an object of at most ${labelsMax} labels, each a string by its name`,
};

const param = 'metadata.labels';
// Label names come from the caller, so a message shows only their beginning.
const nameShownMax = 80;

/**
 * Returns the labels if all are valid. Returns undefined if there are no labels, or if one label
 * has a fault. A label with the value null counts as absent, as in every field.
 */
export function readLabels(value: unknown, faults: Fault[]): Labels | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) {
    faults.push(invalid(param, `${labelsField.wanted}; got ${show(value)}.`));
    return undefined;
  }
  const sent = Object.entries(value).filter(([, text]) => !isAbsent(text));
  if (sent.length > labelsMax) {
    faults.push(invalid(param, `${labelsField.wanted}; got ${sent.length}.`));
    return undefined;
  }
  const before = faults.length;
  for (const [name, text] of sent) {
    const fault = labelFault(name, text);
    if (fault) faults.push(invalid(`${param}.${name.slice(0, nameShownMax)}`, fault));
  }
  if (faults.length > before || sent.length === 0) return undefined;
  return Object.fromEntries(sent) as Labels;
}

/** Returns a description of the fault of one label, or null if the label is valid. */
export function labelFault(name: string, text: unknown): string | null {
  if (!labelNameSchema.safeParse(name).success) return `${wantedName}.`;
  if (labelValueSchema.safeParse(text).success) return null;
  return `${wantedValue}; got ${show(text)}.`;
}
