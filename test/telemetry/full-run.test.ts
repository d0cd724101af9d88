// One run of the whole service with everything told: its metrics, its log lines, its traces. The
// tests look at what the same few tasks left behind in each.

import { metrics } from '../../src/metrics';
import { until } from '../support/until';
import { alerts, panels, usesOf } from './ops';
import { caller, planted, runTasks, type TaskIds } from './tasks';
import { startTelemetryWorld, type TelemetryWorld } from './world';

let world: TelemetryWorld;
let ids: TaskIds;

beforeAll(async () => {
  world = await startTelemetryWorld();
  ids = await runTasks(world);
}, 120_000);
afterAll(() => world?.close(), 60_000);

/** The values of one metric by their labels, as Prometheus would read them. */
function valuesOf(text: string, name: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return new Map(
    lines.map((line) => {
      const [, labels = '', value] = /^[^{]+\{(.*)\} (\S+)$/.exec(line) ?? [];
      const own = labels.split(',').filter((label) => !label.startsWith('process='));
      return [own.join(','), Number(value)];
    }),
  );
}

describe('metrics', () => {
  test.each(['api', 'worker'] as const)('the %s serves every metric of its own', async (name) => {
    const text = await world.metricsOf(name);
    const own = Object.entries(metrics).filter(([, { of }]) => of === name);
    const missing = own.filter(([metric]) => !text.includes(`# TYPE ${metric} `));
    expect(missing).toEqual([]);
  });

  test('the worker hands on what Temporal’s core counts', async () => {
    const text = await world.metricsOf('worker');
    expect(text).toMatch(/^temporal_workflow_completed_total\{.*\} \d+$/m);
    expect(text).toMatch(/^temporal_worker_task_slots_available\{/m);
  });

  test('what panels and alerts name of Temporal’s and Node’s own is there', async () => {
    const text = await world.metricsOf('worker');
    const foreign = [...panels(), ...alerts()]
      .flatMap(usesOf)
      .map(({ series }) => series)
      .filter((series) => !series.startsWith('video_'));
    expect(foreign.length).toBeGreaterThan(5);
    const isThere = (series: string) =>
      text.includes(`\n${series}{`) || text.includes(`\n${series} `);
    expect(foreign.filter((series) => !isThere(series))).toEqual([]);
  });

  test('requests are counted by route and status, never by the task they name', async () => {
    const text = await world.metricsOf('api');
    const count = valuesOf(text, 'video_http_request_duration_seconds_count');
    const created = 'method="POST",route="/v1/videos/generations",status="200"';
    expect(count.get(created)).toBe(4);
    expect(text).not.toContain(ids.whole);
    expect(valuesOf(text, 'video_http_refusals_total').size).toBeGreaterThan(0);
  });

  test('tasks are counted by model and end, money by what it was for', async () => {
    const text = await world.metricsOf('worker');
    const model = 'model="studio-2.0"';
    expect(valuesOf(text, 'video_tasks_opened_total').get(model)).toBe(4);
    const ended = valuesOf(text, 'video_task_duration_seconds_count');
    expect(ended.get(`${model},status="succeeded"`)).toBe(2);
    expect(ended.get(`${model},status="failed"`)).toBe(2);
    const charged = valuesOf(text, 'video_charged_amount_total');
    expect([...charged.keys()].sort()).toEqual([
      `${model},kind="generation"`,
      `${model},kind="super_resolution"`,
    ]);
  });

  test('held money is charged or returned to the last micro-unit of the curve', async () => {
    const text = await world.metricsOf('worker');
    const sum = (name: string) =>
      [...valuesOf(text, name).values()].reduce((total, value) => total + value, 0);
    const returned = sum('video_charged_amount_total') + sum('video_refunded_amount_total');
    expect(returned).toBeCloseTo(sum('video_held_amount_total'), 6);
  });

  test('upstream requests, job times and callback attempts are told apart by what came of them', async () => {
    const text = await world.metricsOf('worker');
    const requests = valuesOf(text, 'video_upstream_request_duration_seconds_count');
    expect(requests.get('channel="studio",operation="create",outcome="ok"')).toBe(4);
    const jobs = valuesOf(text, 'video_job_seconds_count');
    const enhanced = 'channel="studio-enhancer",kind="super_resolution",until="succeeded"';
    expect(jobs.get(enhanced)).toBe(1);
    const attempts = valuesOf(text, 'video_callback_attempt_duration_seconds_count');
    expect([attempts.get('outcome="again"'), attempts.get('outcome="delivered"')]).toEqual([1, 1]);
  });

  test('what is open is counted in the database, and nothing is left of it afterwards', async () => {
    await until('the figures are fresh and empty', async () => {
      const text = await world.metricsOf('api');
      return (
        valuesOf(text, 'video_tasks_open').size === 0 &&
        /^video_held_amount\{[^}]*\} 0$/m.test(text) &&
        /^video_standing_figures_up\{[^}]*\} 1$/m.test(text)
      );
    });
  });
});

describe('logs', () => {
  const lines = () =>
    world
      .logs()
      .split('\n')
      .filter((line) => line !== '');

  test('every line is one JSON object with a time, a level, a process and a sentence', () => {
    expect(lines().length).toBeGreaterThan(50);
    for (const line of lines()) {
      expect(JSON.parse(line)).toEqual(
        expect.objectContaining({
          time: expect.stringMatching(/^20\d\d-/),
          level: expect.stringMatching(/^(trace|debug|info|warn|error)$/),
          name: expect.stringMatching(/^(api|worker|studio)$/),
          msg: expect.any(String),
        }),
      );
    }
  });

  test('nothing of what must stay secret is in any line', () => {
    // The error that carried a whole row was told, so there was something to cut out.
    expect(world.logs()).toContain('no_media');
    const found = [...planted, ...Object.values(world.secrets)].filter((secret) =>
      world.logs().includes(secret),
    );
    expect(found).toEqual([]);
  });

  test.each([
    'request',
    'task_opened',
    'upstream',
    'job_changed',
    'task_closed',
    'callback_attempt',
  ])('the %s lines of a task carry its id', (event) => {
    const ofTheTask = lines().filter(
      (line) => line.includes(`"event":"${event}"`) && line.includes(`"task":"${ids.whole}"`),
    );
    expect(ofTheTask.length).toBeGreaterThan(0);
  });
});

describe('traces', () => {
  const spansOf = (traceId: string) =>
    world.collector.spans.filter((span) => span.traceId === traceId);
  const theSpan = (name: string) => {
    const found = spansOf(caller.traceId).filter((span) => span.name === name);
    expect(found).toHaveLength(1);
    return found[0] as (typeof found)[0];
  };
  const studio = () => new URL(world.studioUrl).host;

  beforeAll(() =>
    until('the whole task has been handed over', () => {
      const names = spansOf(caller.traceId).map(({ name }) => name);
      return (
        names.includes('task') && names.filter((name) => name === 'attemptCallback').length > 1
      );
    }),
  );

  test('a task’s trace is the caller’s, and its reply and lines say so', async () => {
    const { json } = await world.call('GET', `/v1/videos/generations/${ids.whole}`);
    expect(json.trace_id).toBe(caller.traceId);
    expect(world.logs()).toContain(`"task":"${ids.whole}","traceId":"${caller.traceId}"`);
  });

  test('from the request over its submission to the task each span hangs on the one before', () => {
    const request = theSpan('POST /v1/videos/generations');
    expect(request).toMatchObject({ service: 'video-api', parentSpanId: caller.spanId });
    expect(theSpan('submission').parentSpanId).toBe(request.spanId);
    expect(theSpan('task')).toMatchObject({
      service: 'video-worker',
      parentSpanId: theSpan('submission').spanId,
      failed: false,
      attributes: { 'video.task.id': ids.whole, 'video.task.status': 'succeeded' },
    });
  });

  test('everything done for a task hangs on it, and lies within its caller’s time', () => {
    const task = theSpan('task');
    const children = spansOf(caller.traceId).filter(
      ({ parentSpanId }) => parentSpanId === task.spanId,
    );
    expect(children.map(({ name }) => name).sort()).toEqual([
      ...['attemptCallback', 'attemptCallback'],
      ...['closeTask', 'openTask', 'submitJob', 'submitJob'],
    ]);
    expect(task.startMs).toBeGreaterThanOrEqual(theSpan('submission').startMs);
    for (const { startMs, endMs } of children) expect(endMs).toBeGreaterThanOrEqual(startMs);
  });

  test('requests to generator, enhancer and receiver hang on the activity that made them', () => {
    const spans = spansOf(caller.traceId);
    const parentOf = (span: { parentSpanId: string | undefined }) =>
      spans.find(({ spanId }) => spanId === span.parentSpanId)?.name;
    const creates = spans.filter(({ name }) => name === `POST ${studio()}`);
    expect(creates.map(parentOf)).toEqual(['submitJob', 'submitJob']);
    const posts = spans.filter(({ name }) => name === 'POST callback');
    expect(posts.map(parentOf)).toEqual(['attemptCallback', 'attemptCallback']);
    const statuses = posts.map(({ attributes }) => Number(attributes['http.response.status_code']));
    expect(new Set(statuses)).toEqual(new Set([204, 429]));
  });

  test('a receiver gets the trace with the span of the very request', () => {
    const sent = world.sink.received.map(({ headers }) => headers.traceparent);
    const posts = spansOf(caller.traceId).filter(({ name }) => name === 'POST callback');
    const expected = posts.map(({ spanId }) => `00-${caller.traceId}-${spanId}-01`);
    expect(sent).toHaveLength(2);
    expect(new Set(sent)).toEqual(new Set(expected));
  });

  test('a failed task is a failed span in a trace of its own', async () => {
    const { json } = await world.call('GET', `/v1/videos/generations/${ids.failed}`);
    await until('the trace is whole', () => spansOf(json.trace_id).length > 4);
    const root = spansOf(json.trace_id).filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(root.map(({ name }) => name)).toEqual(['POST /v1/videos/generations']);
    expect(spansOf(json.trace_id).find(({ name }) => name === 'task')?.failed).toBe(true);
  });

  test('the collector gets its key and none of the secrets', () => {
    expect(world.collector.headers[0]?.['x-key']).toBe(world.secrets.collectorKey);
    const all = world.collector.bodies.join('\n');
    const found = [...planted, ...Object.values(world.secrets)].filter((one) => all.includes(one));
    expect(found).toEqual([]);
  });
});
