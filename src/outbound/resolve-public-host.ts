// Resolves a host name that a caller chose. The name servers are asked directly, without the
// resolver of the operating system, for two reasons. The system's resolver blocks one of the
// process's few threads while a name server is silent. The system's resolver also knows names of
// this machine that callers must not use.

import { Resolver } from 'node:dns/promises';

/** All IP addresses of a name; empty if the name has none. Throws if no name server answers. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** `servers` defaults to the machine's name servers. */
export function createResolveName(servers?: readonly string[]): ResolveName {
  return async (name) => {
    // Two tries of 2 s fit into the five seconds for a connection. Each call creates a resolver,
    // because a resolver reads the machine's list of name servers only when it is created.
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    if (addresses.length > 0) return addresses;
    for (const answer of answers) {
      if (answer.status === 'rejected' && !saysNone(answer.reason)) throw answer.reason;
    }
    return [];
  };
}

// Untested: the name servers of the machine. The tests start name servers of their own.
export const resolvePublicName = createResolveName();

function saysNone(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENODATA' || error.code === 'ENOTFOUND';
}
