// All shapes by their names in the setting SHAPES.

import type { ShapeName } from '../../contract/openapi-shapes';
import type { KeyedDeps } from '../deps';
import { arkShape } from './ark/ark';
import { mcpShape } from './mcp/mcp';
import { openAiShape } from './openai/openai';
import type { Calls, CreateShape, Shape } from './shape';

const known: Readonly<Record<ShapeName, CreateShape>> = {
  openai: openAiShape,
  ark: arkShape,
  mcp: mcpShape,
};

export function createShapes(deps: KeyedDeps, calls: Calls): Shape[] {
  return [...new Set(deps.settings.shapes)].map((name) => withHead(known[name](deps, calls)));
}

/** HEAD is answered like GET, and Koa leaves out the body. */
function withHead(shape: Shape): Shape {
  const routeOf: Shape['routeOf'] = (method, path) =>
    shape.routeOf(method === 'HEAD' ? 'GET' : method, path);
  return { ...shape, routeOf };
}
