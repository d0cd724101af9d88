// What a caller's host name resolves to. Asked of the name servers directly, never through the
// operating system's resolver: that one blocks one of a process's few threads for as long as a dead
// name server is silent, so a handful of bad names would hold up everybody, and it knows names of
// this machine that a caller has no business with.

import { Resolver } from 'node:dns/promises';

/** All addresses of a name; none when there is no such name. Throws when no name server says. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** `servers` are the machine's own, unless others are named. */
export function createResolveName(servers?: readonly string[]): ResolveName {
  return async (name) => {
    // Two tries of 2 s fit into the five seconds a connection has. A new resolver each time, since
    // it reads the machine's list of name servers only once.
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

export const resolvePublicName = createResolveName();

function saysNone(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENODATA' || error.code === 'ENOTFOUND';
}
