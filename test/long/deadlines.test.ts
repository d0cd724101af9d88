// Tests 200 random deadlines of the allowed range. Each task reaches one of the stages at a random
// moment before its deadline.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { randomFrom, seedOfRun } from '../support/books';
import { coveredWorkflows } from '../support/coverage';
import { openWorlds, type Worlds } from '../support/task-world';
import { timeSkippingEnvironment } from '../support/temporal';
import { type Deadline, deadlineStages, testDeadlines } from '../workflows/deadlines';

const workflows = coveredWorkflows();

let env: TestWorkflowEnvironment;
let worlds: Worlds;
beforeAll(async () => {
  env = await timeSkippingEnvironment();
  worlds = await openWorlds(env, workflows);
}, 60_000);
afterAll(async () => {
  await worlds?.close();
  await env?.teardown();
});

const random = randomFrom(seedOfRun());
const anyDeadline = (_: unknown, n: number): Deadline => ({
  seconds: 3_600 + Math.floor(random() * (259_200 - 3_600 + 1)),
  stage: deadlineStages[n % deadlineStages.length] ?? 'running',
  after: random() * 0.99,
});

testDeadlines(() => worlds, Array.from({ length: 200 }, anyDeadline));
