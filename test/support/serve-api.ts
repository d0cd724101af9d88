// Serves the API in this process, with the limits of a test that is about something else. The test
// brings the parts of the API; startApi and startService are the two ways to do so.

import type { RequestListener } from 'node:http';
import type { Knex } from 'knex';
import { listen } from '../../src/commands/http-server';
import { isUpload } from '../../src/files/read-upload.http';
import { createApp } from '../../src/gateway/app';
import type { ApiDeps, ApiSettings, RequestObserver } from '../../src/gateway/deps';
import type { Limits } from '../../src/gateway/limit-table';
import { createStarter } from '../../src/tasks/create/starter';

const testSettings: ApiSettings = {
  publicUrl: 'http://localhost',
  corsOrigins: [],
  dangerouslyAllowHosts: [],
  dangerouslyAllowProviderHosts: [],
  trustedProxies: 0,
  queuedTasksMax: 100_000,
  uploadsMax: 1_000,
  uploadedBytesMax: 1_000_000_000,
  filesKeptDays: 30,
  filesDelivery: 'proxy',
  playground: false,
  shapes: ['openai', 'ark', 'mcp'],
  studioUrl: null,
  temporalNamespace: 'default',
  temporalUiUrl: null,
};

const tenThousand = { perSecond: 10_000, burst: 10_000 };
const many = { own: 10_000, all: 10_000 };
const testLimits: Limits = {
  changes: tenThousand,
  creates: tenThousand,
  quotes: tenThousand,
  uploads: tenThousand,
  reads: tenThousand,
  lists: tenThousand,
  unknown: tenThousand,
  calls: many,
  heldReads: many,
  uploadsAtOnce: many,
  listsAtOnce: many,
  downloads: many,
  downloadsOfAddress: many,
  webhookTests: { own: 3, all: 10_000 },
  databaseConnections: { own: 5, all: 10_000 },
  databaseLookUps: 2,
};

export type SettingsInTest = Partial<ApiSettings & Limits>;

type Parts = Pick<ApiDeps, 'db' | 'storage' | 'temporal' | 'catalogue'> &
  Partial<Pick<ApiDeps, 'now' | 'elapsed' | 'isServing'>> & {
    /** The starter's own connections; those of the API by default. */
    readonly starterDb?: Knex;
    readonly observer: Partial<RequestObserver>;
    readonly settings: (url: string) => SettingsInTest;
  };

export async function serveApi({ starterDb, observer, settings, ...parts }: Parts) {
  // The settings may contain the address, so the server listens before the app exists.
  let handle: RequestListener = () => undefined;
  const server = await listen(
    (request, response) => handle(request, response),
    '127.0.0.1',
    0,
    { host: 'HOST', port: 'PORT' },
    { isUpload },
  );
  const url = `http://127.0.0.1:${server.port}`;
  // Some tests damage the database or stop Temporal on purpose; those failures are expected.
  const onError = () => undefined;
  const starter = createStarter(starterDb ?? parts.db, parts.temporal, onError);
  const over = settings(url);
  const app = createApp({
    now: Date.now,
    elapsed: () => performance.now(),
    isServing: () => true,
    ...parts,
    starter,
    observer: {
      finished: () => undefined,
      fileWithoutBytes: () => undefined,
      failed: () => undefined,
      ...observer,
    },
    settings: { ...testSettings, ...over },
    limits: { ...testLimits, ...over },
    version: { name: 'test', version: '0', commit: 'test' },
  });
  handle = app.callback();
  return {
    url,
    async close() {
      await server.close();
      await starter.close();
    },
  };
}
