// Everything that is served is documented, and everything documented is served: the routes
// themselves are walked.

import { type ApiDeps, createApp } from '../../src/api/app';
import { createOpenApiDocument } from '../../src/contract/openapi';
import { theCatalogue } from '../support/catalogue';

// Pages, scripts and pictures for people; what a program calls is all in the document.
const forBrowsers = /^\/(docs|playground)([/.]|$)/;

interface Routed {
  readonly router?: {
    readonly stack: readonly { readonly path: unknown; readonly methods: readonly string[] }[];
  };
}

/**
 * `GET /v1/models`, as the app has them; HEAD comes with every GET, a slash at the end is the same
 * path.
 */
function servedRoutes(playground: boolean): string[] {
  const settings = { playground, pepper: 'x', corsOrigins: [], publicUrl: 'http://localhost' };
  const deps = { settings: { ...settings, version: {} }, catalogue: theCatalogue, engine: {} };
  const app = createApp(deps as unknown as ApiDeps);
  const layers = app.middleware.flatMap((part) => (part as Routed).router?.stack ?? []);
  const routes = layers.flatMap(({ path, methods }) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${String(path).replace(/:(\w+)/g, '{$1}')}`),
  );
  const trimmed = routes.map((route) => (route.endsWith(' /') ? route : route.replace(/\/$/, '')));
  return [...new Set(trimmed)].filter((route) => !forBrowsers.test(route.split(' ')[1] ?? ''));
}

function documentedRoutes(): string[] {
  const document = createOpenApiDocument({ version: '1', publicUrl: 'http://localhost' });
  const { paths } = document as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

test.each([true, false])('with the playground %s', (playground) => {
  const served = servedRoutes(playground).sort();
  // The walk would find nothing if the router kept its routes elsewhere.
  expect(served).toContain('POST /v1/videos/generations');
  expect(served).toEqual(documentedRoutes().sort());
});
