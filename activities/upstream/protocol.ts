// What a folder of this directory exports: the facts about its protocol and its client.

import type { JobKind } from '../../src/domain/job';
import type { Provider, ProviderAccess } from './provider';

export interface Protocol {
  /** The kinds of jobs that its providers do. */
  readonly does: readonly JobKind[];
  readonly connect: (access: ProviderAccess) => Provider;
}
