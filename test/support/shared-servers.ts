// Passes the run's servers from the setup to the teardown. Both run in Jest's own process, but each
// loads its own copy of this module. So the servers are kept in a global variable.

interface Shared {
  stop?: () => Promise<void>;
  folder?: string;
}

const place = globalThis as unknown as { sharedServers?: Shared };
place.sharedServers ??= {};

export const shared: Shared = place.sharedServers;
