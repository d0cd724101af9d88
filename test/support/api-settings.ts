// The settings of the API in tests, with limits that a test about something else does not reach.

import type { ApiSettings } from '../../src/api/deps';

export const testSettings: ApiSettings = {
  publicUrl: 'http://localhost',
  corsOrigins: [],
  allowHosts: [],
  providerHosts: [],
  createRatePerSecond: 10_000,
  createBurst: 10_000,
  requestRatePerSecond: 10_000,
  quoteRatePerSecond: 10_000,
  readRatePerSecond: 10_000,
  listRatePerSecond: 10_000,
  uploadRatePerSecond: 10_000,
  unknownRatePerSecond: 10_000,
  listsAtOncePerAccountMax: 100,
  changesAtOncePerAccountMax: 5,
  heldReadsMax: 10_000,
  trustedProxies: 0,
  queuedTasksMax: 100_000,
  uploadsMax: 1_000,
  uploadedBytesMax: 1_000_000_000,
  filesKeptDays: 30,
  filesDelivery: 'proxy',
  playground: false,
  shapes: ['openai', 'ark', 'mcp'],
  temporalUiUrl: null,
  version: { name: 'test', version: '0', commit: 'test' },
};
