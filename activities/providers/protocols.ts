// The table of protocols. One line registers a protocol; its folder contains everything else. No
// other file of the service names a protocol (test/house/architecture.test.ts).

import { ark } from './ark/protocol';
import { dashscope } from './dashscope/protocol';
import { kling } from './kling/protocol';
import { mediakit } from './mediakit/protocol';
import { minimax } from './minimax/protocol';
import { openaiVideos } from './openai-videos/protocol';
import type { Protocol } from './protocol';

export const protocols: Readonly<Record<string, Protocol>> = {
  ark,
  mediakit,
  minimax,
  'openai-videos': openaiVideos,
  dashscope,
  kling,
};

/** The catalogue has already refused names that are not in the table. */
export function protocolNamed(name: string): Protocol {
  const protocol = protocols[name];
  if (!protocol) throw new Error(`There is no protocol "${name}".`);
  return protocol;
}
