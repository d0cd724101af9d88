// Random and hostile requests against a running server: every reply is documented, and nothing is
// logged that an operator would have to act on.

import { create } from '../support/api';
import { expectDocumented, testHostile, useAnApi } from './hostile';

const api = useAnApi();

testHostile(api, { bodies: 400, quotes: 120, json: 120, bytes: 120, paths: 300, minutesEach: 3 });

const large = (fill: string) => (times: number) => fill.repeat(times).slice(0, -1);
const listOf = (item: string, count: number) => `[${large(`${item},`)(count)}]`;
const body = (field: string) => `{"model":"studio-2.0","prompt":"x",${field}}`;

// Each fits into the 128 KiB limit, and a message for every element would be expensive.
test.each<[string, string]>([
  ['sixty thousand images', body(`"images":${listOf('1', 60_000)}`)],
  ['four thousand tools', body(`"metadata":{"tools":${listOf('{}', 3_900)}}`)],
  ['a deep list', body(`"x":${'['.repeat(60_000)}${']'.repeat(60_000)}`)],
  ['deep metadata as text', body(`"metadata":"${'['.repeat(120_000)}"`)],
  ['numbers that grow', body(`"metadata":{"x":${listOf('1e20', 20_000)}}`)],
  ['a long name of a model', `{"model":"${'m'.repeat(120_000)}","prompt":"x"}`],
  ['a long prompt of switches', `{"model":"studio-2.0","prompt":"${'--dur '.repeat(20_000)}"}`],
  ['a long address', body(`"images":["https://${'a.'.repeat(60_000)}com"]`)],
  ['an element with built-in property names', body('"images":[{"toString":1,"valueOf":1}]')],
  ['a tool with built-in property names', body('"metadata":{"tools":[{"type":"x","toString":1}]}')],
  ['an absent target', body('"metadata":{"super_resolution_config":{"resolution":[],"fps":24}}')],
  [
    'four thousand unknown names',
    body(
      `"metadata":{"super_resolution_config":{${large('"k":1,')(1)},${Array.from(
        { length: 3_900 },
        (_, index) => `"${index}":1`,
      ).join(',')}}}`,
    ),
  ],
])('%s is answered with a short 400', async (_, text) => {
  expect(text.length).toBeLessThan(128 * 1024);
  const reply = await api().call('POST', create, text);
  expect(reply.status).toBe(400);
  expectDocumented(reply);
});
