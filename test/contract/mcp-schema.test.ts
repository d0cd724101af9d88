// Tests of the descriptions of the tools for agents.

import { toolsOf } from '../../src/contract/mcp-schema';

test('the tools are described only once, because that takes as long as many calls', () => {
  expect(toolsOf()).toBe(toolsOf());
});
