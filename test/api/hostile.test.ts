// Generated and hostile requests thrown at a running server: only documented answers, in the
// documented envelope, and not one line in the log that calls for a person.

import { create } from '../support/api';
import { expectDocumented, testHostile, useAnApi } from './hostile';

const api = useAnApi();

testHostile(api, { bodies: 400, quotes: 120, json: 120, bytes: 120, paths: 300, minutesEach: 3 });

const large = (fill: string) => (times: number) => fill.repeat(times).slice(0, -1);
const listOf = (item: string, count: number) => `[${large(`${item},`)(count)}]`;
const body = (field: string) => `{"model":"studio-2.0","prompt":"x",${field}}`;

// Each fits into the one mebibyte that is read, and each would be costly to answer element by
// element.
test.each<[string, string]>([
  ['half a million images', body(`"images":${listOf('1', 500_000)}`)],
  ['a hundred thousand tools', body(`"metadata":{"tools":${listOf('{}', 100_000)}}`)],
  ['a deep list', body(`"x":${'['.repeat(400_000)}${']'.repeat(400_000)}`)],
  ['deep metadata as text', body(`"metadata":"${'['.repeat(900_000)}"`)],
  ['numbers that grow', body(`"metadata":{"x":${listOf('1e20', 150_000)}}`)],
  ['a long name of a model', `{"model":"${'m'.repeat(900_000)}","prompt":"x"}`],
  ['a long prompt of switches', `{"model":"studio-2.0","prompt":"${'--dur '.repeat(100_000)}"}`],
  ['a long address', body(`"images":["https://${'a.'.repeat(400_000)}com"]`)],
  ['an element with names of the language', body('"images":[{"toString":1,"valueOf":1}]')],
  ['a tool with names of the language', body('"metadata":{"tools":[{"type":"x","toString":1}]}')],
  ['an absent target', body('"metadata":{"super_resolution_config":{"resolution":[],"fps":24}}')],
  [
    'eighty thousand unknown names',
    body(
      `"metadata":{"super_resolution_config":{${large('"k":1,')(1)},${Array.from(
        { length: 80_000 },
        (_, index) => `"${index}":1`,
      ).join(',')}}}`,
    ),
  ],
])('%s: a short 400', async (_, text) => {
  expect(text.length).toBeLessThan(1024 * 1024);
  const reply = await api().call('POST', create, text);
  expect(reply.status).toBe(400);
  expectDocumented(reply);
});
