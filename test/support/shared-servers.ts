// Passes the run's servers from setup to teardown. Both run in jest's own process, but each loads
// its own copy of this module.

interface Shared {
  stop?: () => Promise<void>;
  folder?: string;
}

const place = globalThis as unknown as { sharedServers?: Shared };
place.sharedServers ??= {};

export const shared: Shared = place.sharedServers;
