// How Temporal is reached, from the settings that say so. A key is only ever sent over TLS.

import type { Config } from '../config';

type Settings = Pick<Config, 'temporalAddress' | 'temporalTls' | 'temporalApiKey'>;

export function temporalAccess({ temporalAddress, temporalTls, temporalApiKey }: Settings) {
  return {
    address: temporalAddress ?? '',
    tls: temporalTls || temporalApiKey !== null,
    ...(temporalApiKey ? { apiKey: temporalApiKey } : {}),
  };
}
