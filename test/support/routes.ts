// The routes that the OpenAPI document lists, and those that it only describes: the singular alias
// of a task's paths, and a task's path without its id.

import { createOpenApiDocument } from '../../src/contract/openapi';
import type { ShapeName } from '../../src/contract/openapi-shapes';

/** `GET /v1/models` and so on, also the calls that a path's missing id refuses. */
export function documentedRoutes(): string[] {
  const withoutId = ['GET', 'DELETE'].map((method) => `${method} /v1/videos/generations`);
  return withSingular([...listedRoutes(), ...withoutId]);
}

/** The documented routes that can succeed. */
export function possibleRoutes(): string[] {
  return withSingular(listedRoutes());
}

/** The routes of the forms of other services. */
export function shapedRoutes(): string[] {
  const own = listedRoutes();
  return shapedToo().filter((route) => !own.includes(route));
}

// The documents are made once, because each takes tens of milliseconds.
const listedRoutes = once(() => routesOf([]));
const shapedToo = once(() => routesOf(['openai', 'ark', 'mcp']));

function once(make: () => string[]): () => readonly string[] {
  let made: readonly string[] | undefined;
  return () => (made ??= make());
}

function routesOf(shapes: readonly ShapeName[]): string[] {
  const document = createOpenApiDocument({ version: '1', publicUrl: 'http://localhost', shapes });
  const { paths } = document as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

function withSingular(plural: readonly string[]): string[] {
  const singular = plural
    .filter((route) => route.includes('/v1/videos/generations'))
    .map((route) => route.replace('/v1/videos/', '/v1/video/'));
  return [...plural, ...singular];
}
