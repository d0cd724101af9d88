// Tests the view of a task in the Temporal UI: summaries, search attributes and the number of
// events. The texts and addresses of the customer must not appear there.

import type { WorkflowHandle } from '@temporalio/client';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { cancelTask, type Service, startService, textTask } from '../support/service';
import { connectTemporal } from '../support/temporal';
import { until } from '../support/until';

let service: Service;
let sink: CallbackSink;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
beforeAll(async () => {
  temporal = await connectTemporal();
  sink = await startCallbackSink();
  service = await startService({ allowHosts: [sink.hostPort] });
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await temporal?.close();
});

const handleOf = (id: string): WorkflowHandle => temporal.client.workflow.getHandle(id);
const eventsOf = async (id: string) => (await handleOf(id).fetchHistory()).events ?? [];

async function finishedAndClosed(body: Record<string, unknown>): Promise<string> {
  const { json } = await service.create(body);
  await service.finished(json.id);
  await handleOf(json.id).result();
  return json.id;
}

/** Creates a task whose job runs for longer than any test. */
async function aWaitingTask(): Promise<string> {
  const { id } = (await service.create(textTask({ run_s: 600 }))).json;
  await until('it runs', async () => {
    const { json } = await service.call('GET', `/v1/videos/generations/${id}`);
    return json.status === 'running';
  });
  return id;
}

async function cancelled(id: string): Promise<void> {
  await cancelTask(service.call, id);
  await service.finished(id);
}

describe('the workflow history', () => {
  test('of a finished task with a callback has at most 36 events', async () => {
    const metadata = { callback_url: sink.url };
    const id = await finishedAndClosed(textTask({ run_s: 1 }, { metadata }));
    expect((await eventsOf(id)).length).toBeLessThanOrEqual(36);
  });

  test('of a task with super-resolution has at most 52 events', async () => {
    const metadata = {
      callback_url: sink.url,
      super_resolution_config: { resolution: '1080p', scene: 'aigc' },
    };
    const script = { run_s: 1, enhance: { run_s: 1 } };
    const id = await finishedAndClosed(textTask(script, { metadata }));
    expect((await eventsOf(id)).length).toBeLessThanOrEqual(52);
  });
});

test('search attributes find a waiting task by account, model, status, channel and upstream job', async () => {
  const id = await aWaitingTask();
  const searched = async () => {
    const { typedSearchAttributes } = await handleOf(id).describe();
    const pairs = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    return Object.fromEntries(pairs) as Record<string, unknown>;
  };
  // The database row shows the status a moment before Temporal does.
  await until('Temporal knows', async () => (await searched()).TaskStatus === 'running');
  expect(await searched()).toMatchObject({
    AccountId: service.accountId,
    Model: 'studio-2.0',
    TaskStatus: 'running',
    Stage: 'generation',
    Channel: 'studio',
    UpstreamJobId: expect.stringMatching(/^cgt-/),
  });
  expect(await (await handleOf(id).describe()).staticSummary()).toBe(
    'studio-2.0 · 720p 16:9 · 5 s',
  );
  const ids = async () => {
    const query = `AccountId = '${service.accountId}' and TaskStatus = 'running'`;
    const list: string[] = [];
    for await (const { workflowId } of temporal.client.workflow.list({ query })) {
      list.push(workflowId);
    }
    return list;
  };
  await until('the list shows it', async () => (await ids()).includes(id));
  await cancelled(id);
});

test('the call stack of a waiting task has two or three lines and names the workflow’s source file', async () => {
  const id = await aWaitingTask();
  const stack = await handleOf(id).query<string>('__stack_trace');
  const waits = stack.split('\n\n').map((wait) => wait.trim().split('\n'));
  expect(stack).toContain('workflows/generate-video.ts');
  // Longer stack traces would slow a worker down. Of the four lines some are the SDK's, which are left
  // out (workflows/stack-depth.ts).
  const left = Number.parseInt(process.versions.node, 10) < 24 ? 2 : 3;
  expect(Math.max(...waits.map((lines) => lines.length))).toBe(left);
  await cancelled(id);
});

test('"Cancel" in the Temporal UI has the effect of DELETE', async () => {
  const { json } = await service.create(textTask({ queue_s: 600 }));
  await handleOf(json.id).cancel();
  expect(await service.finished(json.id)).toMatchObject({
    status: 'failed',
    error: { code: 'task_error', message: 'The task was cancelled by the caller.' },
    billing: { charged: '0.000000' },
  });
});

test('every activity and every timer of a task has a summary', async () => {
  const metadata = { callback_url: sink.url };
  const id = await finishedAndClosed(textTask({}, { metadata }));
  const events = await eventsOf(id);
  const silent = events.filter(
    (event) =>
      (event.activityTaskScheduledEventAttributes || event.timerStartedEventAttributes) &&
      !event.userMetadata?.summary,
  );
  expect(silent).toEqual([]);
});

test('Temporal shows no prompt, media URL or secret of a failed task', async () => {
  const secret = 'velvet-otter';
  const { json } = await service.create({
    model: 'studio-2.0',
    prompt: `a ${secret} on a rock`,
    images: [`https://images.example.com/${secret}.png`],
    metadata: { studio: { render: 'none', end: 'failed', message: `bad ${secret}` } },
  });
  await service.finished(json.id);
  await handleOf(json.id).result();
  // Input and results are left out here. encryption.test.ts searches the whole database of
  // Temporal.
  const shown = (await eventsOf(json.id)).map((event) => ({
    summary: text(event.userMetadata?.summary?.data),
    details: text(event.userMetadata?.details?.data),
    attributes: event.upsertWorkflowSearchAttributesEventAttributes,
    failure: event.activityTaskFailedEventAttributes?.failure,
    started: event.workflowExecutionStartedEventAttributes?.memo,
    searchAttributes: event.workflowExecutionStartedEventAttributes?.searchAttributes,
  }));
  expect(text(Buffer.from(JSON.stringify(shown)))).not.toContain(secret);
});

function text(data: Uint8Array | null | undefined): string {
  return Buffer.from(data ?? []).toString('utf8');
}
