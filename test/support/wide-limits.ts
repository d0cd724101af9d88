// Limits of the API that a test about something else does not reach.

export const wideLimits = {
  createBurst: 10_000,
  requestRatePerSecond: 10_000,
  quoteRatePerSecond: 10_000,
  readRatePerSecond: 10_000,
  listRatePerSecond: 10_000,
  uploadRatePerSecond: 10_000,
  unknownRatePerSecond: 10_000,
  refusalRatePerSecond: 10_000,
  listsAtOncePerAccountMax: 100,
  changesAtOncePerAccountMax: 5,
  heldReadsMax: 10_000,
  trustedProxies: 0,
};
