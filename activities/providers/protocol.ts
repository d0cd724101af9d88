// What a folder of this directory exports: the facts about its protocol and its client.

import type { ProtocolFacts } from '../../src/catalogue/protocol-facts.rules';
import type { Provider, ProviderAccess } from './provider';

export type { BrokenPromise, Promises } from '../../src/catalogue/protocol-facts.rules';

export interface Protocol extends ProtocolFacts {
  readonly connect: (access: ProviderAccess) => Provider;
}
