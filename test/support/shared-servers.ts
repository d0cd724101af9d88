// What the run's setup hands to its teardown; both run in jest's own process.

export const shared: { stop?: () => Promise<void>; folder?: string } = ((
  globalThis as unknown as { sharedServers?: object }
).sharedServers ??= {});
