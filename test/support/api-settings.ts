// The settings and limits of the API in tests, which a test about something else does not reach.

import type { ApiDeps, ApiSettings, Rates } from '../../src/api/deps';

const testSettings: ApiSettings = {
  publicUrl: 'http://localhost',
  corsOrigins: [],
  dangerouslyAllowHosts: [],
  dangerouslyAllowProviderHosts: [],
  unknownRatePerSecond: 10_000,
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

const testRates: Rates = {
  createRatePerSecond: 10_000,
  createBurst: 10_000,
  requestRatePerSecond: 10_000,
  quoteRatePerSecond: 10_000,
  uploadRatePerSecond: 10_000,
  readRatePerSecond: 10_000,
  listRatePerSecond: 10_000,
  listsAtOncePerAccountMax: 100,
  changesAtOncePerAccountMax: 5,
  heldReadsMax: 10_000,
};

export type SettingsInTest = Partial<ApiSettings & Rates>;

export function settingsInTest(
  over: SettingsInTest,
): Pick<ApiDeps, 'settings' | 'rates' | 'version'> {
  return {
    settings: { ...testSettings, ...over },
    rates: { ...testRates, ...over },
    version: { name: 'test', version: '0', commit: 'test' },
  };
}
