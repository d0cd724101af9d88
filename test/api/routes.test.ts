// Every served route is documented, and every documented route is served. The routes are read from
// the routers themselves.

import { createApp } from '../../src/api/app';
import type { ApiDeps } from '../../src/api/deps';
import { theCatalogue } from '../support/catalogue';
import { documentedRoutes } from '../support/routes';

// Pages, scripts and images for browsers. Every route for programs must be in the document.
const forBrowsers = /^\/(docs|playground)([/.]|$)/;

interface Routed {
  readonly router?: {
    readonly stack: readonly { readonly path: unknown; readonly methods: readonly string[] }[];
  };
}

/** The app's routes, such as `GET /v1/models`, without HEAD and without a trailing slash. */
function servedRoutes(playground: boolean): string[] {
  const settings = { playground, peppers: ['x'], corsOrigins: [], publicUrl: 'http://localhost' };
  const deps = { settings: { ...settings, version: {} }, catalogue: theCatalogue, temporal: {} };
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

test.each([true, false])(
  'served and documented routes are the same with the playground %s',
  (playground) => {
    const served = servedRoutes(playground).sort();
    // Guards against a router that keeps its routes elsewhere after an update.
    expect(served).toContain('POST /v1/videos/generations');
    expect(served).toEqual(documentedRoutes().sort());
  },
);
