// All shapes by their names in the setting SHAPES.

import type { ApiDeps } from '../deps';
import { arkShape } from './ark/ark';
import { openAiShape } from './openai/openai';
import type { Calls, CreateShape, Shape } from './shape';

const known: Readonly<Record<ApiDeps['settings']['shapes'][number], CreateShape>> = {
  openai: openAiShape,
  ark: arkShape,
};

export function createShapes(deps: ApiDeps, calls: Calls): Shape[] {
  return [...new Set(deps.settings.shapes)].map((name) => known[name](deps, calls));
}
