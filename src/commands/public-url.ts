// The address at which callers reach the API, for the processes that write links to it.

import type { Config } from '../config/config';

export function publicUrlOf({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string {
  return publicUrl ?? `http://localhost:${port}`;
}
