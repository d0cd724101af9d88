// The life of a task, told by its workflow alone: time is skipped, activities are fakes that
// remember.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { TaskObject } from '../../src/contract/task';
import type { PlacedJob } from '../../workflows/messages';
import { toldPendingSignal, turnSignal } from '../../workflows/messages';
import { anEnhancedPlan, aPlan, aRequest, aSuccess, aTaskInput } from '../support/builders';
import { coveredWorkflows } from '../support/coverage';
import { inWorld, type World } from '../support/task-world';
import { realEnvironment, timeSkippingEnvironment } from '../support/temporal';
import { until } from '../support/until';
import { testDeadlines } from './deadlines';

const workflows = coveredWorkflows();

let env: TestWorkflowEnvironment;
let real: TestWorkflowEnvironment;
beforeAll(async () => {
  [env, real] = await Promise.all([timeSkippingEnvironment(), realEnvironment()]);
});
afterAll(async () => {
  await env?.teardown();
  await real?.teardown();
});

const run = (test: (world: World) => Promise<void>) => inWorld(env, workflows, test);

// The time-skipping server loses a workflow task when a cancel meets an update, on a busy machine
// also one that has just been answered; the real one does not.
const runReal = (test: (world: World) => Promise<void>) => inWorld(real, workflows, test);

const running = { kind: 'generation', upstreamId: 'job-generation', status: 'running' } as const;
const enhanced = {
  ...aSuccess({ videoUrl: 'https://m.example.com/enhanced.mp4', completionTokens: null }),
  kind: 'super_resolution' as const,
};

describe('admission', () => {
  test('the update answers the five fields once the task is stored', () =>
    runReal(async (world) => {
      const input = aTaskInput();
      const task = await world.start(input);
      const { task: created, requestHash } = await task.accepted;
      expect(created).toEqual({
        id: input.taskId,
        task_id: input.taskId,
        object: 'video.generation.task',
        status: 'submitted',
        message: expect.any(String),
      });
      expect(requestHash).toBe(input.requestHash);
      expect(world.opened[0]?.object.billing?.held).toBe('5.009400');
      await task.cancel();
      await task.result();
    }));

  test('a refused task fails its update and its workflow, and nothing is submitted', () =>
    run(async (world) => {
      const refusal = { code: 'insufficient_balance', message: 'too little', param: '' } as const;
      world.script.open = () => ({ outcome: 'refused', refusal });
      const task = await world.start(aTaskInput());
      await expect(task.accepted).rejects.toMatchObject({
        cause: { type: 'Refused', details: [refusal] },
      });
      await expect(task.result()).rejects.toThrow();
      expect(world.submitted).toEqual([]);
      expect(world.kept).toEqual([]);
    }));

  test('a refused task whose caller was told pending keeps a failed row', () =>
    run(async (world) => {
      const refusal = { code: 'insufficient_balance', message: 'too little', param: '' } as const;
      let told: () => void = () => undefined;
      const wait = new Promise<void>((resolve) => {
        told = resolve;
      });
      world.script.open = async () => {
        await wait;
        return { outcome: 'refused', refusal };
      };
      const task = await world.start(aTaskInput());
      await task.signal(toldPendingSignal);
      told();
      const object = await task.result();
      expect(object).toMatchObject({ status: 'failed', error: { code: 'task_error' } });
      expect(world.kept.map((kept) => kept.object.status)).toEqual(['failed']);
    }));

  test('a door that fails is tried again after a timer each, until it opens', () =>
    runReal(async (world) => {
      world.script.open = () => {
        if (world.opened.length < 4) throw new Error('The database is away.');
        return { outcome: 'opened' };
      };
      const task = await world.start(aTaskInput());
      await task.accepted;
      expect(world.opened).toHaveLength(4);
      // Three waits, and the deadline.
      expect(await task.timers()).toBe(4);
      await task.cancel();
      await task.result();
    }));

  test('a second run under the id of a task that has a final row does nothing', () =>
    run(async (world) => {
      const input = aTaskInput();
      const object = aFailedObject(input.taskId);
      world.script.open = () => ({ outcome: 'exists', object, requestHash: 'other' });
      const task = await world.start(input);
      expect((await task.accepted).requestHash).toBe('other');
      expect(await task.result()).toEqual(object);
      expect(world.submitted).toEqual([]);
      expect(world.closed).toEqual([]);
    }));
});

function aFailedObject(id: string): TaskObject {
  return {
    id,
    task_id: id,
    object: 'video.generation.task',
    status: 'failed',
    message: 'gone',
    trace_id: '',
    data: [],
    model: 'studio-2.0',
    created_at: 1,
  };
}

describe('success', () => {
  test('a finished generation is settled by its tokens and shown with its video', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput());
      await task.accepted;
      await task.report(running);
      expect(await task.object()).toMatchObject({ status: 'running', stage: 'generation' });
      await task.report(aSuccess({ completionTokens: 100_000 }));
      const object = await task.result();
      expect(object).toMatchObject({
        status: 'succeeded',
        video_url: 'https://media.example.com/video.mp4',
        data: [{ url: 'https://media.example.com/video.mp4', ratio: '16:9' }],
        duration: 5,
        usage: { completion_tokens: 100_000, total_tokens: 100_000 },
        billing: { held: '5.009400', charged: '4.600000', refunded: '0.409400' },
      });
      expect(object).not.toHaveProperty('stage');
      expect(world.closed[0]?.charge.map((line) => line.amountMicros)).toEqual([4_600_000]);
    }));

  test('the enhanced video is the task’s video, and its line is billed', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.accepted;
      await task.report(aSuccess());
      await until('it is enhanced', () => world.submitted.length === 2);
      await task.report({ ...running, kind: 'super_resolution' });
      expect(await task.object()).toMatchObject({ status: 'running', stage: 'super_resolution' });
      await task.report(enhanced);
      const object = await task.result();
      expect(object.video_url).toBe('https://m.example.com/enhanced.mp4');
      expect(object.billing?.items.map(({ kind }) => kind)).toEqual([
        'generation',
        'super_resolution',
      ]);
      expect(world.submitted.map(({ kind, videoUrl }) => [kind, videoUrl])).toEqual([
        ['generation', null],
        ['super_resolution', 'https://media.example.com/video.mp4'],
      ]);
    }));

  test('success without usage is settled at the hold and says so', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput());
      await task.report(aSuccess({ completionTokens: null }));
      expect(await task.result()).toMatchObject({
        usage: { completion_tokens: 108_900 },
        billing: { charged: '5.009400', refunded: '0.000000', usage_missing: true },
      });
    }));

  test('reports that repeat, cross or step back change nothing', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.accepted;
      for (const report of [running, running, aSuccess(), running, aSuccess()]) {
        await task.report(report);
      }
      await until('it is enhanced', () => world.submitted.length === 2);
      await task.report({ ...running, kind: 'super_resolution' });
      await task.report(running);
      expect(await task.object()).toMatchObject({ status: 'running', stage: 'super_resolution' });
      await task.report({ ...running, status: 'failed' });
      await task.report(enhanced);
      expect((await task.result()).status).toBe('succeeded');
      expect(world.submitted).toHaveLength(2);
    }));
});

test('an end that is signalled, as watchers of older builds do, counts as well', () =>
  run(async (world) => {
    const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
    await task.accepted;
    await task.signalReport(aSuccess());
    await until('it is enhanced', () => world.submitted.length === 2);
    await task.signalReport(enhanced);
    expect((await task.result()).status).toBe('succeeded');
  }));

test('a task of before, whose jobs were placed for signals, goes the whole way by them', () =>
  run(async (world) => {
    const { waits, ...ofBefore } = aTaskInput({ plan: anEnhancedPlan() });
    expect(waits).toBe('in activities');
    const task = await world.start(ofBefore);
    await task.accepted;
    await task.signalReport(running);
    await task.signalReport(aSuccess());
    await until('it is enhanced', () => world.submitted.length === 2);
    await until('it shows', async () => (await task.object()).stage === 'super_resolution');
    await task.signalReport(enhanced);
    expect((await task.result()).status).toBe('succeeded');
  }));

describe('announcing', () => {
  const metadata = { callback_url: 'https://example.com/hook' };
  const aCalledBackInput = () => aTaskInput({ request: aRequest({ metadata }) });

  /** Its queue has no worker, so it stays as it was begun. */
  async function expectDelivery({ env }: World, taskId: string): Promise<void> {
    const delivery = env.client.workflow.getHandle(`${taskId}:callback`);
    expect((await delivery.describe()).status.name).toBe('RUNNING');
    await delivery.terminate('the test is over');
  }

  test('a task with a callback leaves behind a delivery of its own', () =>
    runReal(async (world) => {
      const input = aCalledBackInput();
      const task = await world.start(input);
      await task.accepted;
      await task.report(aSuccess());
      expect((await task.result()).status).toBe('succeeded');
      await expectDelivery(world, input.taskId);
    }));

  test('an end that was stored by a worker that died is announced by the next', () =>
    runReal(async (world) => {
      const input = aCalledBackInput();
      const object = aFailedObject(input.taskId);
      world.script.open = () => ({ outcome: 'exists', object, requestHash: input.requestHash });
      const task = await world.start(input);
      expect(await task.result()).toEqual(object);
      await expectDelivery(world, input.taskId);
    }));
});

test('a second run that meets a running row places both of its jobs', () =>
  run(async (world) => {
    const input = aTaskInput({ plan: anEnhancedPlan() });
    const object: TaskObject = {
      ...aFailedObject(input.taskId),
      status: 'running',
      stage: 'generation',
    };
    world.script.open = () => ({ outcome: 'exists', object, requestHash: input.requestHash });
    const task = await world.start(input);
    await task.report(aSuccess());
    await until('it is enhanced', () => world.submitted.length === 2);
    await task.report(enhanced);
    expect((await task.result()).status).toBe('succeeded');
  }));

describe('failure', () => {
  test.each(['failed', 'cancelled', 'expired'] as const)(
    'a generation that ends %s fails the task, uncharged',
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

  test('a failed super-resolution fails the whole task, uncharged', () =>
    run(async (world) => {
      const task = await world.start(aTaskInput({ plan: anEnhancedPlan() }));
      await task.report(aSuccess());
      await task.report({ kind: 'super_resolution', upstreamId: 'x', status: 'failed' });
      const object = await task.result();
      expect(object).toMatchObject({ status: 'failed', billing: { charged: '0.000000' } });
      expect(object).not.toHaveProperty('usage');
      expect(object).not.toHaveProperty('video_url');
    }));

  test('a refused submit fails the task with the refusal’s sentence', () =>
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

  test('whichever final state was stored first wins', () =>
    run(async (world) => {
      const stored = { status: 'failed', message: 'stopped' } as never;
      world.script.close = () => ({ object: stored, first: false });
      const task = await world.start(aTaskInput());
      await task.report(aSuccess());
      expect(await task.result()).toEqual(stored);
    }));
});

describe('the deadline', () => {
  testDeadlines(() => env, workflows, [
    { seconds: 3_600, stage: 'running', after: 0 },
    { seconds: 172_800, stage: 'running', after: 0 },
    { seconds: 259_200, stage: 'running', after: 0 },
    { seconds: 3_600, stage: 'waiting', after: 0.5 },
    { seconds: 3_600, stage: 'queued', after: 0.5 },
    { seconds: 3_600, stage: 'enhancing', after: 0.5 },
  ]);

  test('a service that does not answer the last look cannot hold it up', () =>
    run(async (world) => {
      world.script.read = () => {
        throw new Error('The service is silent.');
      };
      const task = await world.start(aTaskInput({ plan: aPlan({ expiresAfterSeconds: 3_600 }) }));
      await task.accepted;
      expect(await task.result()).toMatchObject({
        status: 'failed',
        error: { code: 'task_error', message: expect.stringContaining('expired after 3600') },
      });
    }));

  test('a job found finished at the last look still succeeds', () =>
    run(async (world) => {
      world.script.read = () => aSuccess();
      const task = await world.start(aTaskInput());
      expect((await task.result()).status).toBe('succeeded');
      expect(world.cancelled).toEqual([]);
    }));

  test(
    'a submit that finds no channel goes on until the deadline and no further',
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
  test('a waiting task ends failed, uncharged, and its job is asked to stop', () =>
    runReal(async (world) => {
      const task = await world.start(aTaskInput());
      await task.accepted;
      await task.report(running);
      await task.cancel();
      expect(await task.result()).toMatchObject({
        status: 'failed',
        error: { code: 'task_error', message: expect.stringContaining('cancelled by the caller') },
        billing: { charged: '0.000000' },
      });
      expect(world.cancelled).toHaveLength(1);
    }));

  test('a task cancelled before it was stored is stored, refunded and closed', () =>
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
      // Whoever waits for the answer gets it, as the task then is: stored, or ended already.
      expect(['submitted', 'failed']).toContain((await task.accepted).task.status);
      expect((await task.result()).status).toBe('failed');
      expect(world.closed).toHaveLength(1);
    }));
});

describe('a channel with a limit', () => {
  test('a task that found it full submits when it is given its turn', () =>
    run(async (world) => {
      const answers: PlacedJob[] = [{ outcome: 'waiting', channel: 'studio' }];
      world.script.submit = () =>
        answers.pop() ?? { outcome: 'accepted', channel: 'studio', upstreamId: 'job' };
      const input = aTaskInput();
      const task = await world.start(input);
      await task.accepted;
      await world.env.sleep('1 s');
      expect(world.submitted).toHaveLength(1);
      await world.env.client.workflow.getHandle(input.taskId).signal(turnSignal, 'generation');
      await task.report(aSuccess());
      expect((await task.result()).status).toBe('succeeded');
      expect(world.submitted).toHaveLength(2);
    }));
});

describe('history', () => {
  test('a finished task takes as many events after two days as after a minute', () =>
    run(async (world) => {
      const live = async (wait: string) => {
        const task = await world.start(aTaskInput());
        await task.accepted;
        await world.env.sleep('10 s');
        await task.report(running);
        await world.env.sleep(wait as '1 min');
        await task.report(aSuccess());
        await task.result();
        return task.events();
      };
      const [short, long] = [await live('1 min'), await live('47 hours')];
      // The callback adds its start and a workflow task; see the system test for the whole with
      // one. An update that meets the first workflow task saves three events; days of waiting add
      // none.
      for (const events of [short, long]) expect([23, 26, 29]).toContain(events);
    }));

  test('no prompt stands in summaries, details or search attributes', () =>
    runReal(async (world) => {
      const input = aTaskInput({ request: aRequest({ prompt: 'SECRET-PROMPT' }) });
      const task = await world.start(input);
      await task.accepted;
      const { searchAttributes, memo } = await world.env.client.workflow
        .getHandle(input.taskId)
        .describe();
      expect(JSON.stringify([searchAttributes, memo])).not.toContain('SECRET-PROMPT');
      await task.cancel();
      await task.result();
    }));
});
