// All faults of a request: those of its shape, and those of its plan. The plan was made as if the
// fields of the wrong shape were absent, so a fault that may come from that is left out.

import { refusals as codes, type Refusal } from '../contract/error';
import { reportedFaults } from '../contract/faults';
import type { Fault } from '../contract/field';
import { metadataFields } from '../contract/metadata-schema';

const inputs = ['input_type', 'image', 'images', 'videos', 'audios'];
const config = 'metadata.super_resolution_config';

/** What a fault depends on besides its own field. A fault of one input (`images[0]`) stands alone. */
const furtherFields: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(inputs.map((name) => [name, inputs])),
  ...{ resolution: inputs, ratio: inputs, size: ['ratio', ...inputs] },
  [config]: ['metadata.draft', 'resolution', 'size', 'ratio', ...inputs],
};

/** In the order of the API document. A 403 is no fault of the request, and waits for one without. */
export function allFaults(ofShape: readonly Fault[], ofPlan: readonly Refusal[]): Refusal[] {
  const faulty = new Set(ofShape.map(({ param, meant }) => fieldOf(meant ?? param)));
  const certain = ofPlan.filter(
    ({ code, param }) =>
      codes[code].status === 400 && !fieldsOf(param).some((field) => faulty.has(field)),
  );
  return reportedFaults(ofShape.length === 0 ? ofPlan : [...ofShape, ...certain]);
}

function fieldsOf(param: string): readonly string[] {
  if (param === 'model') return ['model'];
  const further = furtherFields[param.startsWith(config) ? config : param] ?? [];
  return [fieldOf(param), 'mode', ...further];
}

/** `images[0]` → `images`, `metadata.tools[0].type` → `metadata.tools`; also if `metadata` is missing. */
function fieldOf(param: string): string {
  const [first = '', second = ''] = param.split(/[.[]/);
  if (Object.hasOwn(metadataFields, first)) return `metadata.${first}`;
  return first === 'metadata' && second !== '' ? `metadata.${second}` : first;
}
