// The names that histories and Temporal record. A later version may add names, and keeps all of them.

import {
  createCallbackActivities,
  createLoopActivities,
  createTaskActivities,
} from '../../activities';
import {
  attemptSignal,
  callbackWorkflowId,
  jobSignal,
  queuesOf,
  taskQuery,
  turnSignal,
  workflowNames,
} from '../../workflows/messages';
import { searchAttributes } from '../../workflows/search-attributes';
import { codeOf, filesIn } from '../house/sources';

/** Functions that are never called: only their names count. */
const deps = new Proxy({}, { get: (): unknown => deps }) as never;

export function recordedNames(): readonly string[] {
  const activities = {
    ...createTaskActivities(deps),
    ...createLoopActivities(deps),
    ...createCallbackActivities(deps),
  };
  const failures = filesIn('activities', '.ts').flatMap((path) =>
    Array.from(codeOf(path).matchAll(/\btype: '([A-Z]\w+)'/g), ([, type]) => `failure ${type}`),
  );
  return [
    ...Object.values(workflowNames).map((name) => `workflow ${name}`),
    ...Object.values(queuesOf('tasks')).map((name) => `queue ${name}`),
    ...[jobSignal, turnSignal, attemptSignal].map((name) => `signal ${name}`),
    `query ${taskQuery}`,
    ...[1, 2].map((delivery) => `workflow id ${callbackWorkflowId('task', delivery)}`),
    ...searchAttributes.map(({ name, type }) => `search attribute ${name} ${type}`),
    ...Object.keys(activities).map((name) => `activity ${name}`),
    ...new Set(failures),
  ].sort();
}
