// A provider that answers a read with nonsense must not end a task. This holds for each protocol of
// the table: the reading has no status, or the read fails.

import { randomUUID } from 'node:crypto';
import { protocols } from '../../../activities/providers/protocols';
import { reportOf, UpstreamFault } from '../../../activities/providers/provider';
import { randomFrom } from '../../support/books';
import { webServers } from '../../support/web-servers';

const serve = webServers();
const words = [
  ...['thinking', 'Succeeded!', 'DREAMING', '', ' ', 'constructor', '__proto__', 'toString'],
  ...['hasOwnProperty', '完成', '\u0000', 'null', '0'],
];
const values: readonly unknown[] = [
  ...words,
  null,
  0,
  5,
  -1,
  true,
  [],
  ['succeeded'],
  {},
  { a: 1 },
];
// The names of a state in the protocols, alone or inside of an envelope.
const names = ['status', 'state', 'task_status', 'video_status'];
const envelopes: readonly ((state: object) => unknown)[] = [
  (state) => state,
  (state) => ({ id: 'job', ...state }),
  (state) => ({ success: true, ...state, result: {} }),
  (state) => ({ code: 0, message: 'ok', data: { task_id: 'job', ...state } }),
  (state) => ({ request_id: 'r', output: { task_id: 'job', ...state } }),
  (state) => ({ base_resp: { status_code: 0 }, task_id: 'job', ...state }),
  (state) => ({ data: [{ id: 'job', ...state }], total: 1, items: [{ id: 'job', ...state }] }),
  (state) => [state],
];

function bodies(): readonly string[] {
  const random = randomFrom(20_261_125);
  const stated = values.flatMap((value) =>
    names.flatMap((name) => envelopes.map((put) => JSON.stringify(put({ [name]: value })))),
  );
  const cut = stated.map((text) => text.slice(0, Math.floor(random() * text.length)));
  return [...new Set([...stated, ...cut, '<html>502</html>', 'null', '"succeeded"', '[]', '{}'])];
}

test.each(Object.entries(protocols))('no nonsense ends a job of %s', async (name, protocol) => {
  let body = '';
  const host = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const access = { baseUrl: `http://${host}`, apiKey: 'access:secret', timeoutMs: 5_000 };
  const provider = protocol.connect({ ...access, honoursIdempotencyKey: false, hasList: false });
  const job = { kind: protocol.does[0]!, channel: name, upstreamModel: 'm' };
  const ended: string[] = [];
  for (body of bodies()) {
    const id = randomUUID();
    const outcome = await provider.read(id).then(
      (reading) => reportOf(job, id, reading)?.status ?? null,
      (error: unknown) => (error instanceof UpstreamFault ? null : error),
    );
    if (outcome !== null) ended.push(`${String(outcome)}: ${body}`);
  }
  expect(ended).toEqual([]);
});
