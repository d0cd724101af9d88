// Tests 200 random deadlines of the allowed range. Each task reaches one of the stages at a random
// moment before its deadline.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { randomFrom, seedOfRun } from '../support/books';
import { coveredWorkflows } from '../support/coverage';
import { timeSkippingEnvironment } from '../support/temporal';
import { type Deadline, deadlineStages, testDeadlines } from '../workflows/deadlines';

let env: TestWorkflowEnvironment;
beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(() => env?.teardown());

const random = randomFrom(seedOfRun());
const anyDeadline = (_: unknown, n: number): Deadline => ({
  seconds: 3_600 + Math.floor(random() * (259_200 - 3_600 + 1)),
  stage: deadlineStages[n % deadlineStages.length] ?? 'running',
  after: random() * 0.99,
});

testDeadlines(() => env, coveredWorkflows(), Array.from({ length: 200 }, anyDeadline));
