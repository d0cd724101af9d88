// What a browser sees: the playground where it is enabled, else the version.

import type { ApiDeps } from './app';
import type { ApiRouter } from './context';

export function pageRoutes(router: ApiRouter, { settings }: ApiDeps): void {
  router.get('/', (ctx) => {
    ctx.body = settings.version;
  });
}
