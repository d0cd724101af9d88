// Tests the parts of tracing: the ids, the headers, the modules that are loaded, and a collector
// that does not work.

import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { inTrace, traced, traceHeaders } from '../../activities/task-trace';
import { exchange } from '../../activities/upstream/http-exchange';
import { parseTraceparent, type Span, spanIdOf } from '../../src/domain/trace';
import { createLogger } from '../../src/telemetry/logger';
import { createTracing } from '../../src/telemetry/span-exporter';

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

test('the span ids of a task are computed from the task id and differ', () => {
  const made = ['task_a', 'task_b'].flatMap((id) => [
    spanIdOf(id, 'task'),
    spanIdOf(id, 'submission'),
  ]);
  expect(new Set(made).size).toBe(4);
  for (const id of made) expect(id).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  expect(spanIdOf('task_a', 'task')).toBe(made[0]);
});

test('a request inside an activity carries the trace of its task, even if tracing is off', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.traceparent as string | undefined);
    response.writeHead(200, { connection: 'close' }).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const ask = () =>
    exchange({ method: 'GET', url: `http://127.0.0.1:${port}/`, apiKey: 'k', timeoutMs: 5_000 });
  const spans: Span[] = [];
  try {
    await inTrace({ taskId: 'task_a', traceId }, 'submitJob', (span) => void spans.push(span), ask);
    await inTrace({ taskId: 'task_a', traceId }, 'submitJob', null, ask);
    await ask();
  } finally {
    await new Promise((done) => server.close(done));
  }
  const [request, activity] = spans;
  expect(seen[0]).toBe(`00-${traceId}-${request?.spanId}-01`);
  expect(request).toMatchObject({
    kind: 'client',
    parentSpanId: activity?.spanId,
    attributes: { 'http.response.status_code': 200 },
  });
  expect(activity).toMatchObject({ name: 'submitJob', parentSpanId: spanIdOf('task_a', 'task') });
  expect(seen[1]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  expect(seen[2]).toBeUndefined();
});

test('an activity that throws has a failed span, and its error is passed on unchanged', async () => {
  const spans: Span[] = [];
  const error = new Error('it broke');
  const activities = {
    submitJob: async (_order: { taskId: string; traceId: string }): Promise<void> => {
      throw error;
    },
  };
  const { submitJob } = traced(activities, (span) => void spans.push(span));
  await expect(submitJob({ taskId: 'task_a', traceId })).rejects.toBe(error);
  expect(spans).toEqual([expect.objectContaining({ name: 'submitJob', failed: true })]);
});

test.each([
  ['that has a task id and a trace id', { taskId: 'task_a', traceId }],
  ['of openTask', { input: { taskId: 'task_a', traceId } }],
  ['of closeTask', { taskId: 'task_a', object: { trace_id: traceId } }],
  ['without a trace id', { taskId: 'task_a' }],
  ['with an invalid trace id', { taskId: 'task_a', traceId: 'something' }],
])(
  'an activity with an input %s runs, and is traced only if the trace id is valid',
  async (_, input) => {
    const { run } = traced({ run: async (_input: object) => traceHeaders() }, null);
    const isTraced = JSON.stringify(input).includes(traceId);
    expect(Object.keys(await run(input))).toEqual(isTraced ? ['traceparent'] : []);
  },
);

test.each(['api', 'worker'])(
  'the %s loads no tracing SDK if no collector is configured',
  async (name) => {
    const program = `
    require('./commands/${name}');
    require('./telemetry/span-exporter').createTracing({ endpoint: null });
    console.log(Object.keys(require.cache).filter((path) => /opentelemetry.(sdk|exp)/.test(path)).length);`;
    const cwd = resolve(__dirname, '../../dist/src');
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd });
    expect(stdout.trim()).toBe('0');
  },
);

describe('a collector that does not accept spans', () => {
  /** Sends two spans and closes the exporter. Returns the lines that were logged meanwhile. */
  async function handOver(endpoint: string): Promise<string[]> {
    const lines: string[] = [];
    const settings = { level: 'info', format: 'json', name: 'test' } as const;
    const log = createLogger(settings, { write: (line: string) => void lines.push(line) });
    const tracing = createTracing({ endpoint, service: { name: 'test', version: '0' }, log });
    const now = Date.now();
    const times = { startMs: now, endMs: now };
    const span = { name: 'one', kind: 'internal', traceId, parentSpanId: null, ...times } as const;
    for (const id of [spanId, 'b9c7c989f97918e1']) {
      tracing.keep?.({ ...span, spanId: id, attributes: {}, failed: false });
    }
    await tracing.close();
    return lines;
  }

  async function startRefusing(): Promise<Server> {
    const server = createServer((_, response) => void response.writeHead(400).end());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return server;
  }
  const urlOf = (server: Server) =>
    `http://127.0.0.1:${(server.address() as { port: number }).port}`;

  test('causes one log line for several spans', async () => {
    const server = await startRefusing();
    try {
      const lines = await handOver(urlOf(server));
      expect(lines.map((line) => JSON.parse(line).event)).toEqual(['trace_failure']);
    } finally {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });

  test('does not prevent the exporter from closing', async () => {
    const server = await startRefusing();
    const url = urlOf(server);
    await new Promise((done) => server.close(done));
    await handOver(url);
  });
});
