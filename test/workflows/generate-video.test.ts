// Tests the workflow of a task without its activities. Fake activities record their calls. Most
// tests run on skipped time.

import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { PlacedJob, PlacementAttempt } from '../../src/jobs/job.rules';
import { attemptSignal, callbackWorkflowId, jobSignal, turnSignal } from '../../workflows/messages';
import { aFailedObject, anEnhancedPlan, aPlan, aSuccess, aTaskInput } from '../support/builders';
import { coveredWorkflows } from '../support/coverage';
import { openWorlds, ourLinks, type World, type Worlds } from '../support/task-world';
import { realEnvironment, timeSkippingEnvironment } from '../support/temporal';
import { until } from '../support/until';
import { testDeadlines } from './deadlines';

const workflows = coveredWorkflows();

let env: TestWorkflowEnvironment;
let real: TestWorkflowEnvironment;
let skipping: Worlds;
let unskipped: Worlds;
beforeAll(async () => {
  [env, real] = await Promise.all([timeSkippingEnvironment(), realEnvironment()]);
  [skipping, unskipped] = await Promise.all([
    openWorlds(env, workflows),
    openWorlds(real, workflows),
  ]);
});
afterAll(async () => {
  await Promise.all([skipping?.close(), unskipped?.close()]);
  await env?.teardown();
  await real?.teardown();
});

const run = (test: (world: World) => Promise<void>) => skipping.run(test);

// The time-skipping server may lose a workflow task if a cancel arrives together with another message.
// A real server loses no task.
const runReal = (test: (world: World) => Promise<void>) => unskipped.run(test);

const running = { kind: 'generation', upstreamId: 'job-generation', status: 'running' } as const;
const enhanced = {
  ...aSuccess({ videoUrl: 'https://m.example.com/enhanced.mp4', completionTokens: null }),
  kind: 'super_resolution' as const,
};

describe('admission', () => {
  test('the workflow tells that its task is opened once openTask has opened it', () =>
    runReal(async (world) => {
      const input = aTaskInput();
      const task = await world.start(input);
      await task.admitted();
      expect((await task.told()).stage).toBe('opened');
      expect(world.opened).toMatchObject([{ taskId: input.taskId }]);
      await task.cancel();
      await task.result();
    }));

  test('the workflow of a refused task returns the failed task, and no job is submitted', () =>
    run(async (world) => {
      const refusal = { code: 'insufficient_balance', message: 'too little', param: '' } as const;
      const input = aTaskInput();
      const object = aFailedObject(input.taskId);
      world.script.open = () => ({ outcome: 'refused', refusal, object, hasCallback: false });
      const task = await world.start(input);
      expect(await task.result()).toEqual(object);
      expect(world.submitted).toEqual([]);
    }));

  test('a failed openTask is retried after a timer until it succeeds', () =>
    runReal(async (world) => {
      world.script.open = () => {
        if (world.opened.length < 4) throw new Error('The database is away.');
        return { outcome: 'opened' };
      };
      const task = await world.start(aTaskInput());
      await task.admitted();
      expect(world.opened).toHaveLength(4);
      // Three timers are pauses between the tries. The fourth is the timer of the deadline.
      expect(await task.timers()).toBe(4);
      await task.cancel();
      await task.result();
    }));

  test('a second run for a task that has ended does nothing', () =>
    run(async (world) => {
      const input = aTaskInput();
      const object = aFailedObject(input.taskId);
      world.script.open = () => ({ outcome: 'exists', object, hasCallback: false });
      const task = await world.start(input);
      expect(await task.result()).toEqual(object);
      expect(world.submitted).toEqual([]);
      expect(world.closed).toEqual([]);
    }));
});

describe('success', () => {
  test('a succeeded task is settled by its tokens and shows its video', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput());
      await task.admitted();
      await task.report(running);
      expect((await task.told()).stage).toBe('generation');
      await task.report(aSuccess({ completionTokens: 100_000 }));
      const object = await task.result();
      expect(object).toMatchObject({
        status: 'succeeded',
        video_url: 'https://api.example.com/files/of?https://media.example.com/video.mp4',
        data: [{ ratio: '16:9', expires_at: 2_000_000_000 }],
        duration: 5,
        usage: { completion_tokens: 100_000, total_tokens: 100_000, seconds: 5 },
        billing: { held: '5.009400', charged: '4.600000', refunded: '0.409400' },
      });
      expect(object).not.toHaveProperty('stage');
      expect(world.closed[0]?.charge.map((line) => line.amountMicros)).toEqual([4_600_000]);
    }));

  test('the enhanced video is the task’s video, and super-resolution is billed', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.admitted();
      await task.report(aSuccess());
      await until('it is enhanced', () => world.submitted.length === 2);
      await task.report({ ...running, kind: 'super_resolution' });
      expect((await task.told()).stage).toBe('super_resolution');
      await task.report(enhanced);
      const object = await task.result();
      expect(object.video_url).toMatch(/of\?https:\/\/m\.example\.com\/enhanced\.mp4$/);
      expect(world.stored).toHaveLength(1);
      expect(object.billing?.items.map(({ kind }) => kind)).toEqual([
        'generation',
        'super_resolution',
      ]);
      expect(world.submitted.map(({ kind }) => kind)).toEqual(['generation', 'super_resolution']);
    }));

  test('the seconds in the usage are those measured in the stored file', () =>
    run(async (world) => {
      const { store } = world.script;
      world.script.store = async (results) => {
        const kept = await store(results);
        return kept.stored ? { ...kept, milliseconds: 5_042 } : kept;
      };
      const task = await world.start(aTaskInput());
      await task.report(aSuccess());
      expect(await task.result()).toMatchObject({ duration: 5, usage: { seconds: 5.042 } });
    }));

  test('a success without reported usage is charged the whole hold and marked with usage_missing', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput());
      await task.report(aSuccess({ completionTokens: null }));
      expect(await task.result()).toMatchObject({
        usage: { completion_tokens: 108_900 },
        billing: { charged: '5.009400', refunded: '0.000000', usage_missing: true },
      });
    }));

  test('reports that are repeated, outdated or in the wrong order change nothing', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.admitted();
      for (const report of [running, running, aSuccess(), running, aSuccess()]) {
        await task.report(report);
      }
      await until('it is enhanced', () => world.submitted.length === 2);
      await task.report({ ...running, kind: 'super_resolution' });
      await task.report(running);
      expect((await task.told()).stage).toBe('super_resolution');
      await task.report({ ...running, status: 'failed' });
      await task.report(enhanced);
      expect((await task.result()).status).toBe('succeeded');
      expect(world.submitted).toHaveLength(2);
    }));
});

test('signals without an argument, as somebody may send by hand, change nothing', () =>
  run(async (world) => {
    const input = aTaskInput();
    const task = await world.start(input);
    await task.admitted();
    const handle = world.env.client.workflow.getHandle(input.taskId);
    for (const name of [jobSignal, attemptSignal, turnSignal]) await handle.signal(name);
    await task.report(aSuccess());
    expect((await task.result()).status).toBe('succeeded');
  }));

describe('the results', () => {
  const lastFrame = {
    lastFrameUrl: 'https://media.example.com/last.png',
    expiresAt: 1_900_000_000,
  };

  test('are stored before the task succeeds, and the task shows only our links', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: aPlan({ returnsLastFrame: true }) }));
      await task.report({ ...aSuccess(lastFrame), channel: 'studio' });
      const object = await task.result();
      expect(object.data[0]).toMatchObject({
        url: expect.stringMatching(/^https:\/\/api\.example\.com\/files\//),
        last_frame_url: expect.stringMatching(/^https:\/\/api\.example\.com\/files\//),
      });
      const source = { channel: 'studio', expiresAt: 1_900_000_000 };
      expect(world.stored[0]?.sources).toEqual([
        { role: 'video', url: 'https://media.example.com/video.mp4', ...source },
        { role: 'last_frame', url: lastFrame.lastFrameUrl, ...source },
      ]);
    }));

  test('include no last frame if the caller did not ask for it', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput());
      await task.report(aSuccess(lastFrame));
      expect((await task.result()).data[0]).not.toHaveProperty('last_frame_url');
      expect(world.stored[0]?.sources.map(({ role }) => role)).toEqual(['video']);
    }));

  const adaptive = { ratio: 'adaptive', width: null, height: null } as const;
  test.each([
    ['the planned size if no size was measured', aPlan(), undefined, { width: 1280, height: 720 }],
    ['the measured size', aPlan(), { width: 854, height: 480 }, { width: 854, height: 480 }],
    [
      'the measured size of an adaptive video',
      aPlan(adaptive),
      { width: 786, height: 1180 },
      { width: 786, height: 1180 },
    ],
    ['no size for an adaptive video if no size was measured', aPlan(adaptive), undefined, {}],
  ])('are shown with %s', (_, plan, size, given) =>
    run(async (world) => {
      world.script.store = (results) => ({
        links: ourLinks(results),
        expiresAt: 2_000_000_000,
        stored: true,
        ...(size ? { size } : {}),
      });
      const task = await world.start(aTaskInput({ plan }));
      await task.report(aSuccess());
      const {
        url: _url,
        expires_at: _at,
        resolution: _tier,
        ...rest
      } = (await task.result()).data[0]!;
      expect(rest).toEqual({ ratio: '16:9', ...given });
    }),
  );

  test('are shown with the ratio of the measured size if the generator reports no ratio', () =>
    run(async (world) => {
      world.script.store = (results) => ({
        links: ourLinks(results),
        expiresAt: 2_000_000_000,
        stored: true,
        size: { width: 786, height: 1180 },
      });
      const task = await world.start(aTaskInput({ plan: aPlan(adaptive) }));
      await task.report(aSuccess({ ratio: null }));
      expect((await task.result()).data[0]).toMatchObject({ ratio: '3:4', width: 786 });
    }));

  test('fail the task if they could not be stored in time, and the hold is returned', () =>
    run(async (world) => {
      world.script.store = () => ({ stored: false });
      const task = await world.start(aTaskInput());
      await task.report(aSuccess());
      expect(await task.result()).toMatchObject({
        status: 'failed',
        error: { code: 'task_error' },
        billing: { charged: '0.000000' },
        data: [],
      });
      expect(world.closed).toMatchObject([{ charge: [] }]);
    }));

  test.each([
    ['until the deadline', 3_600, 3_500, 3_600],
    ['for ten minutes if the deadline is nearer', 60, 600, 600],
  ])('are tried %s', (_, expiresAfterSeconds, least, most) =>
    runReal(async (world) => {
      const task = await world.start(aTaskInput({ plan: aPlan({ expiresAfterSeconds }) }));
      await task.report(aSuccess());
      await task.result();
      const { triedForSeconds } = world.stored[0]!;
      expect(triedForSeconds).toBeGreaterThanOrEqual(least);
      expect(triedForSeconds).toBeLessThanOrEqual(most);
    }),
  );

  test('are copied again if the copy fails, without a second generation', () =>
    runReal(async (world) => {
      world.script.store = (results) => {
        if (world.stored.length < 3) throw new Error('The storage is away.');
        return { links: ourLinks(results), expiresAt: 2_000_000_000, stored: true };
      };
      const task = await world.start(aTaskInput());
      await task.report(aSuccess());
      expect((await task.result()).status).toBe('succeeded');
      expect([world.stored.length, world.submitted.length]).toEqual([3, 1]);
    }));

  test.each(['a cancellation', 'the deadline'] as const)(
    'are stored in spite of %s if the generation has succeeded',
    (what) =>
      runReal(async (world) => {
        let finish: () => void = () => undefined;
        const copied = new Promise<void>((resolve) => {
          finish = resolve;
        });
        world.script.store = async (results) => {
          await copied;
          return { links: ourLinks(results), expiresAt: 2_000_000_000, stored: true };
        };
        const plan = aPlan({ expiresAfterSeconds: 10 });
        const task = await world.start(aTaskInput(what === 'the deadline' ? { plan } : {}));
        await task.report(aSuccess());
        await until('it is stored', () => world.stored.length === 1);
        expect(await task.told()).toEqual({
          stage: 'storing',
          message: 'The video is being stored.',
        });
        if (what === 'a cancellation') await task.cancel();
        else await new Promise((later) => setTimeout(later, 10_500));
        finish();
        expect((await task.result()).status).toBe('succeeded');
        expect(world.cancelled).toEqual([]);
      }),
  );
});

describe('the callback', () => {
  /** The delivery of a task, which a test of this group stops. */
  const deliveryOf = ({ env }: World, taskId: string) =>
    env.client.workflow.getHandle(callbackWorkflowId(taskId));
  const refused = { state: 'pending', status: 500, error: 'HTTP 500', nextInMs: 5_000 } as const;

  async function withCallback(world: World) {
    const input = aTaskInput();
    world.hasCallback = true;
    const task = await world.start(input);
    await task.report(aSuccess());
    return { id: input.taskId, result: task.result };
  }

  test('is sent by the workflow of the task, and no delivery starts if the receiver accepts it', () =>
    runReal(async (world) => {
      const { id, result } = await withCallback(world);
      expect((await result()).status).toBe('succeeded');
      expect(world.announced).toMatchObject([{ taskId: id, delivery: 1, attempt: 1 }]);
      await expect(deliveryOf(world, id).describe()).rejects.toThrow(WorkflowNotFoundError);
    }));

  test('starts a delivery if the first attempt fails, and the delivery waits before the second', () =>
    runReal(async (world) => {
      // Like the real activity, it returns the recorded answer to the first attempt.
      world.script.announce = () => refused;
      const { id, result } = await withCallback(world);
      expect((await result()).status).toBe('succeeded');
      const delivery = deliveryOf(world, id);
      await until('it waits', async () => {
        const { events } = await delivery.fetchHistory();
        return (events ?? []).some(({ timerStartedEventAttributes: timer }) => timer);
      });
      expect(world.announced.map(({ attempt }) => attempt)).toEqual([1, 1]);
      await delivery.terminate();
    }));

  test('is left to a delivery if its first attempt cannot be made, for which it has five minutes', () =>
    runReal(async (world) => {
      world.script.announce = () => {
        if (world.announced.length === 1) throw ApplicationFailure.nonRetryable('It was not made.');
        return { state: 'delivered', status: 204, error: null, nextInMs: null };
      };
      const { id, result } = await withCallback(world);
      expect((await result()).status).toBe('succeeded');
      expect(await deliveryOf(world, id).result()).toBe('delivered');
      expect(world.announced.map(({ attempt }) => attempt)).toEqual([1, 1]);
      const { events } = await world.env.client.workflow.getHandle(id).fetchHistory();
      const [scheduled] = (events ?? []).flatMap(
        ({ activityTaskScheduledEventAttributes: attributes }) =>
          attributes?.activityType?.name === 'attemptCallback' ? [attributes] : [],
      );
      expect(Number(scheduled?.scheduleToCloseTimeout?.seconds)).toBe(300);
    }));

  test('is left to a delivery if this run of the workflow has not ended the task', () =>
    runReal(async (world) => {
      // The worker died after it had stored the end, or another process has ended the task.
      const input = aTaskInput();
      const object = aFailedObject(input.taskId);
      world.script.open = () => ({ outcome: 'exists', object, hasCallback: true });
      const task = await world.start(input);
      expect(await task.result()).toEqual(object);
      expect(await deliveryOf(world, input.taskId).result()).toBe('delivered');
    }));

  test('is sent also for a task that could not be opened', () =>
    runReal(async (world) => {
      const input = aTaskInput();
      const refusal = { code: 'insufficient_balance', message: 'too little', param: '' } as const;
      const object = aFailedObject(input.taskId);
      world.script.open = () => ({ outcome: 'refused', refusal, object, hasCallback: true });
      await (await world.start(input)).result();
      expect(world.announced).toHaveLength(1);
      await expect(deliveryOf(world, input.taskId).describe()).rejects.toThrow();
    }));
});

test('if the workflow of a task that is already running starts again, it submits the jobs of both stages', () =>
  run(async (world) => {
    const input = aTaskInput({ plan: anEnhancedPlan() });
    world.script.open = () => ({ outcome: 'exists', object: null, hasCallback: false });
    const task = await world.start(input);
    await task.report(aSuccess());
    await until('it is enhanced', () => world.submitted.length === 2);
    await task.report(enhanced);
    expect((await task.result()).status).toBe('succeeded');
  }));

describe('failure', () => {
  test.each(['failed', 'cancelled', 'expired'] as const)(
    'a generation that ends as %s fails the task, which costs nothing',
    (status) =>
      run(async (world) => {
        const task = await world.start(aTaskInput());
        const failure = { code: status, sentence: 'It did not work.' };
        await task.report({ kind: 'generation', upstreamId: 'x', status, failure });
        expect(await task.result()).toMatchObject({
          status: 'failed',
          error: { code: 'provider_error', message: 'It did not work.' },
          billing: { held: '5.009400', charged: '0.000000', refunded: '5.009400' },
        });
        expect(world.closed[0]?.charge).toEqual([]);
      }),
  );

  test('a failed super-resolution fails the whole task, which costs nothing', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.report(aSuccess());
      await task.report({ kind: 'super_resolution', upstreamId: 'x', status: 'failed' });
      const object = await task.result();
      expect(object).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
      expect(object).not.toHaveProperty('usage');
      expect(object).not.toHaveProperty('video_url');
    }));

  test('a job that the provider refuses fails the task, and the task shows the message of the refusal', () =>
    run(async (world) => {
      const failure = { code: 'InvalidParameter', sentence: 'The prompt was refused.' };
      world.script.submit = ({ kind }) => ({
        outcome: 'rejected',
        report: { kind, upstreamId: '', status: 'failed', failure },
      });
      const task = await world.start(aTaskInput());
      expect((await task.result()).error).toEqual({
        code: 'provider_error',
        message: 'The prompt was refused.',
      });
    }));

  test('the workflow returns the final state that was stored first', () =>
    run(async (world) => {
      const stored = { status: 'failed', message: 'stopped' } as never;
      world.script.close = () => ({ object: stored, first: false, hasCallback: false });
      const task = await world.start(aTaskInput());
      await task.report(aSuccess());
      expect(await task.result()).toEqual(stored);
    }));
});

describe('the deadline', () => {
  testDeadlines(
    () => skipping,
    [
      { seconds: 3_600, stage: 'running', after: 0 },
      { seconds: 172_800, stage: 'running', after: 0 },
      { seconds: 259_200, stage: 'running', after: 0 },
      { seconds: 3_600, stage: 'waiting', after: 0.5 },
      { seconds: 3_600, stage: 'queued', after: 0.5 },
      { seconds: 3_600, stage: 'enhancing', after: 0.5 },
    ],
  );

  test('ends the task even if the provider does not answer the last read', () =>
    run(async (world) => {
      world.script.read = () => {
        throw new Error('The service is silent.');
      };
      const task = await world.start(aTaskInput({ plan: aPlan({ expiresAfterSeconds: 3_600 }) }));
      await task.admitted();
      expect(await task.result()).toMatchObject({
        status: 'failed',
        error: { code: 'task_error', message: expect.stringContaining('expired after 3600') },
      });
    }));

  test('does not fail a task whose job has succeeded by the last read', () =>
    run(async (world) => {
      world.script.read = () => aSuccess();
      const task = await world.start(aTaskInput());
      expect((await task.result()).status).toBe('succeeded');
      expect(world.cancelled).toEqual([]);
    }));

  test('does not fail a task whose video is made although its workflow waits for a slot', () =>
    run(async (world) => {
      // A delayed attempt has placed the job after a later attempt let it wait.
      world.script.submit = () => ({ outcome: 'waiting' });
      world.script.read = () => aSuccess();
      const task = await world.start(aTaskInput());
      expect((await task.result()).status).toBe('succeeded');
    }));

  test('does not fail a task whose enhanced video is made although its workflow knows no end of the first job', () =>
    run(async (world) => {
      // After a reset of the workflow only the rows of the jobs know that both have ended.
      world.script.end = ({ kind }) => (kind === 'generation' ? aSuccess() : null);
      world.script.read = ({ kind }) => (kind === 'super_resolution' ? enhanced : null);
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      const object = await task.result();
      expect(object).toMatchObject({
        status: 'succeeded',
        video_url: expect.stringContaining('enhanced.mp4'),
        billing: { items: [{ kind: 'generation' }, { kind: 'super_resolution' }] },
      });
      expect(world.lookedAt.map(({ kind }) => kind)).toEqual(['super_resolution']);
      expect(world.cancelled).toEqual([]);
    }));

  test('cancels the enhancement of a task whose workflow knows no end of the first job', () =>
    run(async (world) => {
      world.script.end = ({ kind }) => (kind === 'generation' ? aSuccess() : null);
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      expect(await task.result()).toMatchObject({
        status: 'failed',
        billing: { charged: '0.000000' },
      });
      expect(world.cancelled.map(({ kind }) => kind)).toEqual(['super_resolution']);
    }));

  test('cancels the generation of an enhanced task that is still running', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      expect((await task.result()).status).toBe('failed');
      expect(world.lookedAt).toEqual([]);
      expect(world.cancelled.map(({ kind }) => kind)).toEqual(['generation']);
    }));

  test(
    'ends the retries of a job for which no channel is found',
    () =>
      run(async (world) => {
        world.script.submit = () => {
          throw new Error('no channel');
        };
        const plan = aPlan({ expiresAfterSeconds: 3_600 });
        const task = await world.start(aTaskInput({ plan }));
        expect((await task.result()).error?.message).toMatch(/3600 seconds/);
        expect(world.submitted.length).toBeGreaterThan(50);
      }),
    60_000,
  );
});

describe('cancelling', () => {
  test('a task with a running job fails without a charge, and the job is cancelled at the provider', () =>
    runReal(async (world) => {
      const task = await world.start(aTaskInput());
      await task.admitted();
      await task.report(running);
      await task.cancel();
      expect(await task.result()).toMatchObject({
        status: 'failed',
        error: { code: 'task_error', message: expect.stringContaining('cancelled by the caller') },
        billing: { charged: '0.000000' },
      });
      expect(world.cancelled).toHaveLength(1);
    }));

  test('a task whose video is made, although its workflow was not told, is stored and charged, and its provider is not asked', () =>
    runReal(async (world) => {
      world.script.end = () => aSuccess();
      const task = await world.start(aTaskInput());
      await task.admitted();
      await task.report(running);
      await task.cancel();
      expect(await task.result()).toMatchObject({
        status: 'succeeded',
        billing: { charged: '5.009400' },
      });
      expect([world.lookedAt, world.cancelled]).toEqual([[], []]);
    }));

  test('a task whose enhanced video is made, although its workflow knows no end of the first job, is stored and charged', () =>
    runReal(async (world) => {
      world.script.end = ({ kind }) => (kind === 'generation' ? aSuccess() : enhanced);
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.admitted();
      await task.report(running);
      await task.cancel();
      expect(await task.result()).toMatchObject({
        status: 'succeeded',
        billing: { charged: '5.134400' },
      });
      expect([world.lookedAt, world.cancelled]).toEqual([[], []]);
    }));

  test('a task whose generation is made fails while it is enhanced', () =>
    runReal(async (world) => {
      world.script.end = ({ kind }) => (kind === 'generation' ? aSuccess() : null);
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.report(aSuccess());
      await until('it is enhanced', () => world.submitted.length === 2);
      await task.cancel();
      expect(await task.result()).toMatchObject({
        status: 'failed',
        billing: { charged: '0.000000' },
      });
    }));

  test('a task whose last job has failed fails as a cancelled one', () =>
    runReal(async (world) => {
      world.script.end = ({ kind }) => ({ kind, upstreamId: 'x', status: 'failed' });
      const task = await world.start(aTaskInput());
      await task.admitted();
      await task.report(running);
      await task.cancel();
      expect((await task.result()).error?.message).toContain('cancelled by the caller');
    }));

  test('the row of the job is read until the database answers', () =>
    runReal(async (world) => {
      let reads = 0;
      world.script.end = () => {
        reads += 1;
        if (reads < 5) throw new Error('The database is away.');
        return aSuccess();
      };
      const task = await world.start(aTaskInput());
      await task.admitted();
      await task.report(running);
      await task.cancel();
      expect((await task.result()).status).toBe('succeeded');
    }));

  test('a cancel that the provider does not accept is sent five times', () =>
    run(async (world) => {
      world.script.cancel = () => {
        throw new Error('The provider did not take the cancel.');
      };
      const task = await world.start(aTaskInput());
      await task.admitted();
      await task.report(running);
      await task.cancel();
      expect((await task.result()).status).toBe('failed');
      // The pauses between the five calls are 2, 4, 8 and 16 seconds.
      expect(world.cancelled).toHaveLength(5);
    }));

  test('a task that is cancelled during its opening is opened, refunded and closed', () =>
    runReal(async (world) => {
      let open: () => void = () => undefined;
      const wait = new Promise<void>((resolve) => {
        open = resolve;
      });
      world.script.open = async () => {
        await wait;
        return { outcome: 'opened' };
      };
      const task = await world.start(aTaskInput());
      await task.cancel();
      open();
      expect((await task.result()).status).toBe('failed');
      expect(world.closed).toHaveLength(1);
    }));
});

describe('a full channel', () => {
  test('makes a task wait until its turn, and the task then submits its job', () =>
    run(async (world) => {
      const answers: PlacedJob[] = [{ outcome: 'waiting' }];
      world.script.submit = () =>
        answers.pop() ?? { outcome: 'open', channel: 'studio', upstreamId: 'job' };
      const input = aTaskInput();
      const task = await world.start(input);
      await task.admitted();
      await world.env.sleep('1 s');
      expect(world.submitted).toHaveLength(1);
      await world.env.client.workflow.getHandle(input.taskId).signal(turnSignal, 'generation');
      await task.report(aSuccess());
      expect((await task.result()).status).toBe('succeeded');
      expect(world.submitted).toHaveLength(2);
    }));
});

test('the message of a task names the last failed attempt to place its job, until the job is placed', () =>
  runReal(async (world) => {
    let place: () => void = () => undefined;
    const wait = new Promise<void>((resolve) => {
      place = resolve;
    });
    world.script.submit = async () => {
      await wait;
      return { outcome: 'open', channel: 'studio', upstreamId: 'job' };
    };
    const input = aTaskInput();
    const task = await world.start(input);
    await task.admitted();
    await until('the job is being placed', () => world.submitted.length === 1);
    const handle = world.env.client.workflow.getHandle(input.taskId);
    const after = async (attempt: number, trouble: PlacementAttempt['trouble']) => {
      const told: PlacementAttempt = { kind: 'generation', attempt, trouble };
      await handle.signal(attemptSignal, told);
      return (await task.told()).message;
    };
    const busy = await after(3, 'busy');
    expect(busy).toContain('attempt 3');
    expect(await after(2, 'unavailable')).toBe(busy);
    expect(await after(4, 'unavailable')).toContain('attempt 4');
    expect(await after(5, null)).not.toContain('attempt');
    place();
    await task.report(aSuccess());
    expect((await task.result()).status).toBe('succeeded');
  }));

describe('the history', () => {
  test('of a task that runs, is stored and calls back has 33 events, with five workflow tasks and three activities', () =>
    runReal(async (world) => {
      const input = aTaskInput();
      world.hasCallback = true;
      const task = await world.start(input);
      await task.report(running);
      await until('it has taken the report', async () =>
        (await task.events()).includes('UPSERT_WORKFLOW_SEARCH_ATTRIBUTES'),
      );
      await task.report(aSuccess());
      await task.result();
      const events = await task.events();
      const counted = (name: string) => events.filter((type) => type === name).length;
      expect(events).toHaveLength(33);
      expect(counted('WORKFLOW_TASK_COMPLETED')).toBe(5);
      expect(counted('ACTIVITY_TASK_SCHEDULED')).toBe(3);
      expect(counted('START_CHILD_WORKFLOW_EXECUTION_INITIATED')).toBe(0);
    }));

  test('of a task that waits two days has as many events as the history of a task that waits a minute', () =>
    run(async (world) => {
      const live = async (wait: string) => {
        const task = await world.start(aTaskInput());
        await task.admitted();
        await world.env.sleep('10 s');
        await task.report(running);
        await world.env.sleep(wait as '1 min');
        await task.report(aSuccess());
        await task.result();
        const types = await task.events();
        // How many messages share a workflow task depends on when they arrive.
        return types.filter((type) => !type.startsWith('WORKFLOW_TASK_')).sort();
      };
      const [short, long] = [await live('1 min'), await live('47 hours')];
      expect(long).toEqual(short);
    }));
});
