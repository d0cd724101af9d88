// Runs the whole service once with full logging and metrics. The tests check what the same few tasks
// left in the logs and the metrics, and how far their trace ids went.

import { metrics } from '../../src/telemetry/metrics';
import { until } from '../support/until';
import { alerts, panels, usesOf } from './ops';
import { caller, planted, runTasks, type TaskIds } from './tasks';
import { startTelemetryWorld, type TelemetryWorld } from './world';

let world: TelemetryWorld;
let ids: TaskIds;

beforeAll(async () => {
  world = await startTelemetryWorld();
  ids = await runTasks(world);
});
afterAll(() => world?.close(), 60_000);

/** Returns the values of one metric by their labels. The label `process` is left out. */
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
  test.each(['api', 'worker'] as const)(
    'the %s serves every metric that is defined for it',
    async (name) => {
      const text = await world.metricsOf(name);
      const own = Object.entries(metrics).filter(([, { of }]) => of === name);
      const missing = own.filter(([metric]) => !text.includes(`# TYPE ${metric} `));
      expect(missing).toEqual([]);
    },
  );

  test('the worker’s `/metrics` includes the metrics of Temporal’s core', async () => {
    const text = await world.metricsOf('worker');
    expect(text).toMatch(/^temporal_workflow_completed_total\{.*\} \d+$/m);
    expect(text).toMatch(/^temporal_worker_task_slots_available\{/m);
  });

  test('the Temporal and Node metrics that panels and alerts use exist', async () => {
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

  test('requests are counted by route and status, without task ids', async () => {
    const text = await world.metricsOf('api');
    const count = valuesOf(text, 'video_http_request_duration_seconds_count');
    const created = 'method="POST",route="/v1/videos/generations",status="200"';
    expect(count.get(created)).toBe(4);
    expect(text).not.toContain(ids.whole);
    expect(valuesOf(text, 'video_http_refusals_total').size).toBeGreaterThan(0);
  });

  test('tasks are counted by model and final status, and charges by kind', async () => {
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

  test('every held micro-unit is counted as charged or refunded', async () => {
    const text = await world.metricsOf('worker');
    const sum = (name: string) =>
      [...valuesOf(text, name).values()].reduce((total, value) => total + value, 0);
    const returned = sum('video_charged_amount_total') + sum('video_refunded_amount_total');
    expect(returned).toBeCloseTo(sum('video_held_amount_total'), 6);
  });

  test('upstream requests, job times and callback attempts are counted by their result', async () => {
    const text = await world.metricsOf('worker');
    const requests = valuesOf(text, 'video_upstream_request_duration_seconds_count');
    expect(requests.get('channel="studio",operation="create",outcome="ok"')).toBe(4);
    const jobs = valuesOf(text, 'video_job_duration_seconds_count');
    const enhanced = 'channel="studio-enhancer",kind="super_resolution",until="succeeded"';
    expect(jobs.get(enhanced)).toBe(1);
    // The last attempt is counted after the receiver has answered.
    await until('both attempts are counted', async () => {
      const counts = await world.metricsOf('worker');
      const attempts = valuesOf(counts, 'video_callback_attempt_duration_seconds_count');
      return ['again', 'delivered'].every((name) => attempts.get(`outcome="${name}"`) === 1);
    });
  });

  test('the metrics of open work are zero when all tasks have ended', async () => {
    await until('the figures are fresh and empty', async () => {
      const text = await world.metricsOf('api');
      return (
        valuesOf(text, 'video_tasks_open').size === 0 &&
        /^video_open_holds_amount\{[^}]*\} 0$/m.test(text) &&
        /^video_database_gauges_up\{[^}]*\} 1$/m.test(text)
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

  test('every log line is a JSON object with time, level, process and message', () => {
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

  test('no log line contains a secret', () => {
    // The name of the constraint shows that its error was logged. The error has a row with secrets.
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
  ])('the log lines of the event %s contain the id of their task', (event) => {
    const ofTheTask = lines().filter(
      (line) => line.includes(`"event":"${event}"`) && line.includes(`"task":"${ids.whole}"`),
    );
    expect(ofTheTask.length).toBeGreaterThan(0);
  });

  test('the log line of a failed job has the error code of the provider', () => {
    const changes = lines()
      .map((line) => JSON.parse(line))
      .filter(({ event, task }) => event === 'job_changed' && task === ids.failed);
    expect(changes.at(-1)).toMatchObject({ status: 'failed', code: 'InternalServiceError' });
  });
});

describe('traces', () => {
  test('the answer and the log lines of a task have the trace id of its caller', async () => {
    const { json } = await world.call('GET', `/v1/videos/generations/${ids.whole}`);
    expect(json.trace_id).toBe(caller.traceId);
    expect(world.logs()).toContain(`"task":"${ids.whole}","traceId":"${caller.traceId}"`);
  });

  test('each callback attempt continues the trace of its task', async () => {
    await until('both attempts were made', () => world.sink.received.length > 1);
    const sent = world.sink.received.map(({ headers }) => headers.traceparent);
    expect(sent).toHaveLength(2);
    for (const header of sent) {
      expect(header).toMatch(new RegExp(`^00-${caller.traceId}-[0-9a-f]{16}-01$`));
    }
  });
});
