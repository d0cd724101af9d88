// The routes for probes: /livez, /readyz, /readyz/serving and /version. They need no key.

import type { ApiRouter } from './context';
import type { ApiDeps } from './deps';
import { sharedCall } from './shared-call';

// If a trivial query takes longer than this, the API counts as not ready.
const readyMs = 1_000;

export function opsRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/livez', (ctx) => {
    ctx.body = { alive: true };
  });

  // Anyone may probe, so simultaneous probes share one statement and one call to Temporal.
  const ask = sharedCall(() => Promise.all([isDatabaseReady(deps), deps.temporal.isReady()]));

  router.get('/readyz', async (ctx) => {
    const [database, temporal] = await ask();
    const parts = {
      database,
      temporal,
      catalogue: Object.keys(deps.catalogue().models).length > 0,
      serving: deps.isServing(),
    };
    const ready = Object.values(parts).every(Boolean);
    ctx.status = ready ? 200 : 503;
    ctx.body = { ready, parts };
  });

  // For the proxy: false until the first contact with PostgreSQL, and while the process stops. An outage
  // of PostgreSQL or Temporal changes nothing, because the error answers of an API are better than none.
  router.get('/readyz/serving', (ctx) => {
    const serving = deps.isServing();
    ctx.status = serving ? 200 : 503;
    ctx.body = { serving };
  });

  router.get('/version', (ctx) => {
    ctx.body = deps.version;
  });
}

async function isDatabaseReady({ db }: ApiDeps): Promise<boolean> {
  const late = new Promise<false>((resolve) => setTimeout(resolve, readyMs, false).unref());
  return Promise.race([
    db.raw('select 1').then(
      () => true,
      () => false,
    ),
    late,
  ]);
}
