// Tests how the trace of a task reaches its activities and their requests.

import { createServer } from 'node:http';
import { exchange } from '../../activities/providers/http-exchange';
import { inTrace, traced, traceHeaders } from '../../activities/task-trace';
import { parseTraceparent } from '../../src/telemetry/trace.rules';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const zeros = (count: number) => '0'.repeat(count);

test.each([
  ['the header of a caller', `00-${traceId}-${spanId}-01`, { traceId, spanId }],
  ['a header without the recorded flag', `00-${traceId}-${spanId}-00`, { traceId, spanId }],
  ['a header of a later version', `42-${traceId}-${spanId}-01`, { traceId, spanId }],
  ['a header of the forbidden version', `ff-${traceId}-${spanId}-01`, null],
  ['a trace id of zeros', `00-${zeros(32)}-${spanId}-01`, null],
  ['a span id of zeros', `00-${traceId}-${zeros(16)}-01`, null],
  ['a trace id in capital letters', `00-${traceId.toUpperCase()}-${spanId}-01`, null],
  ['a trace id that is too short', `00-${traceId.slice(1)}-${spanId}-01`, null],
  ['an empty header', '', null],
])('the parser of `traceparent` accepts only valid headers: %s', (_, header, expected) => {
  expect(parseTraceparent(header)).toEqual(expected);
});

test('a request inside an activity carries the trace of its task', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.traceparent as string | undefined);
    response.writeHead(200, { connection: 'close' }).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const ask = () =>
    exchange({ method: 'GET', url: `http://127.0.0.1:${port}/`, apiKey: 'k', timeoutMs: 5_000 });
  try {
    await inTrace(traceId, ask);
    await inTrace(traceId, ask);
    await ask();
  } finally {
    await new Promise((done) => server.close(done));
  }
  const [first, second] = seen;
  for (const sent of [first, second]) {
    expect(sent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  }
  expect(second).not.toBe(first);
  expect(seen[2]).toBeUndefined();
});

test('the error of a traced activity is passed on unchanged', async () => {
  const error = new Error('it broke');
  const activities = {
    runJob: async (_order: { taskId: string; traceId: string }): Promise<void> => {
      throw error;
    },
  };
  const { runJob } = traced(activities);
  await expect(runJob({ taskId: 'task_a', traceId })).rejects.toBe(error);
});

test.each([
  ['that has a task id and a trace id', { taskId: 'task_a', traceId }],
  ['of closeTask', { taskId: 'task_a', object: { trace_id: traceId } }],
  ['without a trace id', { taskId: 'task_a' }],
  ['with an invalid trace id', { taskId: 'task_a', traceId: 'something' }],
])(
  'an activity with an input %s runs, and is traced only if the trace id is valid',
  async (_, input) => {
    const { run } = traced({ run: async (_input: { traceId: string }) => traceHeaders() });
    const isTraced = JSON.stringify(input).includes(traceId);
    expect(Object.keys(await run(input as never))).toEqual(isTraced ? ['traceparent'] : []);
  },
);
