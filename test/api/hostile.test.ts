// Sends random and hostile requests to a running API. Every reply must be documented, and the API
// must report no failure of its own.

import { create } from '../support/api';
import { expectDocumented, testHostile, useAnApi } from './hostile';

const api = useAnApi();

testHostile(api, { bodies: 400, quotes: 120, json: 120, bytes: 120, paths: 300, minutesEach: 3 });

const large = (fill: string) => (times: number) => fill.repeat(times).slice(0, -1);
const listOf = (item: string, count: number) => `[${large(`${item},`)(count)}]`;
const body = (field: string) => `{"model":"studio-2.0","prompt":"x",${field}}`;

// Each body fits into the limit of 128 KiB. A message for every element would be expensive.
test.each<[string, string]>([
  ['60,000 images', body(`"images":${listOf('1', 60_000)}`)],
  ['3,900 tools', body(`"metadata":{"tools":${listOf('{}', 3_900)}}`)],
  ['a deep list', body(`"x":${'['.repeat(60_000)}${']'.repeat(60_000)}`)],
  ['deep metadata as a string', body(`"metadata":"${'['.repeat(120_000)}"`)],
  [
    'numbers that become longer when they are written out',
    body(`"metadata":{"x":${listOf('1e20', 20_000)}}`),
  ],
  ['a long model name', `{"model":"${'m'.repeat(120_000)}","prompt":"x"}`],
  ['a long prompt of switches', `{"model":"studio-2.0","prompt":"${'--dur '.repeat(20_000)}"}`],
  ['a long address', body(`"images":["https://${'a.'.repeat(60_000)}com"]`)],
  ['an element with built-in property names', body('"images":[{"toString":1,"valueOf":1}]')],
  ['a tool with built-in property names', body('"metadata":{"tools":[{"type":"x","toString":1}]}')],
  [
    'super-resolution without a target',
    body('"metadata":{"super_resolution_config":{"resolution":[],"fps":24}}'),
  ],
  [
    '3,900 unknown names in super_resolution_config',
    body(
      `"metadata":{"super_resolution_config":{${large('"k":1,')(1)},${Array.from(
        { length: 3_900 },
        (_, index) => `"${index}":1`,
      ).join(',')}}}`,
    ),
  ],
])('a body with %s is answered with a short 400', async (_, text) => {
  expect(text.length).toBeLessThan(128 * 1024);
  const reply = await api().call('POST', create, text);
  expect(reply.status).toBe(400);
  expectDocumented(reply);
});
