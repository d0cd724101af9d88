// What a folder of this directory exports: the facts about its protocol and its client.

import type { ProtocolFacts } from '../../src/domain/protocol-facts';
import type { Provider, ProviderAccess } from './provider';

export type { BrokenPromise, Promises } from '../../src/domain/protocol-facts';

export interface Protocol extends ProtocolFacts {
  readonly connect: (access: ProviderAccess) => Provider;
}
