// Checks that every served route is documented, and that every documented route is served. The
// served routes are read from the routers themselves.

import { createApp } from '../../src/gateway/app';
import type { ApiDeps } from '../../src/gateway/deps';
import { limitsOf } from '../../src/gateway/limit-table';
import { theCatalogue } from '../support/catalogue';
import { documentedRoutes } from '../support/routes';

// The OpenAPI document leaves out pages, scripts and images for browsers. It must contain every
// route for programs.
const forBrowsers = /^\/(docs|playground)([/.]|$)/;

interface Routed {
  readonly handlers?: readonly Routed[];
  readonly router?: {
    readonly stack: readonly { readonly path: unknown; readonly methods: readonly string[] }[];
  };
}

/** The app's routes, such as `GET /v1/models`, without HEAD and without a trailing slash. */
function servedRoutes(playground: boolean): string[] {
  const settings = { playground, corsOrigins: [], publicUrl: 'http://localhost' };
  const deps = {
    settings,
    limits: limitsOf({
      createRatePerSecond: 1,
      readRatePerSecond: 1,
      unknownRatePerSecond: 1,
      databasePoolMax: 4,
      connectionsMax: 100,
    }),
    version: {},
    catalogue: theCatalogue,
    temporal: {},
    elapsed: () => 0,
  };
  const app = createApp(deps as unknown as ApiDeps);
  const parts = app.middleware.flatMap((part) => (part as Routed).handlers ?? [part as Routed]);
  const layers = parts.flatMap(({ router }) => router?.stack ?? []);
  const routes = layers.flatMap(({ path, methods }) =>
    methods
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${String(path).replace(/:(\w+)/g, '{$1}')}`),
  );
  const trimmed = routes.map((route) => (route.endsWith(' /') ? route : route.replace(/\/$/, '')));
  return [...new Set(trimmed)].filter((route) => !forBrowsers.test(route.split(' ')[1] ?? ''));
}

test.each([true, false])(
  'the served routes are exactly the documented routes (playground: %s)',
  (playground) => {
    const served = servedRoutes(playground).sort();
    // Fails if an update of the router makes servedRoutes find no routes.
    expect(served).toContain('POST /v1/videos/generations');
    expect(served).toEqual(documentedRoutes().sort());
  },
);
