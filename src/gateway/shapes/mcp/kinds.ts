// The kind of each message for the rate limits. A tool counts like the call of our own API that it is.

import { type ToolName, toolCallSchema } from '../../../contract/mcp-schema';
import type { JsonObject } from '../../../contract/safe-json';
import type { MessageKind } from '../../count-messages';

const ofTools: Readonly<Record<ToolName, MessageKind>> = {
  submit: 'changes',
  status: 'reads',
  result: 'reads',
  cancel: 'changes',
  quote: 'quotes',
  models: 'lists',
};

const ofMethods = new Map<string, MessageKind>([
  ['tasks/get', 'reads'],
  ['tasks/update', 'reads'],
]);

/** Every message that is not listed counts as a change, also a malformed one. */
export function kindOf(sent: JsonObject): MessageKind {
  const { data } = toolCallSchema.safeParse(sent);
  if (!data) return ofMethods.get(String(sent.method)) ?? 'changes';
  const { name } = data.params;
  return Object.hasOwn(ofTools, name) ? ofTools[name as ToolName] : 'changes';
}
