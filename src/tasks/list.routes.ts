// GET /v1/tasks: the account's tasks, newest first, in pages.

import { show, words } from '../contract/field';
import { labelFault } from '../contract/labels';
import type { Labels } from '../contract/request';
import { type TaskStatus, taskStatuses } from '../contract/vocabulary';
import { isTaskId } from '../database/ids';
import type { KeyedCall } from '../gateway/context';
import { answerJsonText } from '../gateway/context';
import { afterOf, limitOf, type QueryReader, readQuery, refuseUnknown } from '../gateway/paging';
import { queryOf } from '../gateway/query';
import { type AskedTask, askedTask } from './find-task';
import { listTasks } from './list.rows';
import { endRepeats } from './repeated.rows';
import type { StoredTask } from './tasks.rows';

// A task has at most this many labels, so a list accepts at most this many label filters. A query
// string has room for hundreds.
const labelsMax = 16;
const labelPrefix = 'label.';
const parameters = [
  'limit',
  'after',
  'order',
  'status',
  'model',
  'created_after',
  'created_before',
];

/** A form of a page besides our own. */
export type PageForm = (tasks: readonly AskedTask[], next: string | null) => object;

export type ListTasks = (ctx: KeyedCall, form?: PageForm) => Promise<void>;

export function listAccountTasks(): ListTasks {
  return async (ctx, form) => {
    const filters = readQuery(queryOf(ctx), filtersOf);
    const { db, caller } = ctx.state;
    const { accountId } = caller;
    const withAsked = form !== undefined;
    const { rows, next } = await listTasks(db, { accountId, withAsked, ...filters });
    await endListed(ctx, rows);
    const text = form
      ? JSON.stringify(
          form(
            rows.map(({ object, asked }) => askedTask(object, asked)),
            next,
          ),
        )
      : `{"data":[${rows.map(({ object }) => object).join(',')}],"next":${JSON.stringify(next)}}`;
    answerJsonText(ctx, text);
  };
}

/** From now on the caller has the ids of these tasks, so they answer no more repeats of its creates. */
export async function endListed(
  { state }: KeyedCall,
  rows: readonly Pick<StoredTask, 'id' | 'repeatedBy'>[],
): Promise<void> {
  const { db, caller } = state;
  const repeated = rows.filter(({ repeatedBy }) => repeatedBy === caller.keyId);
  const ids = repeated.map(({ id }) => id);
  if (ids.length > 0) await endRepeats(db, ids);
}

function filtersOf(reader: QueryReader) {
  refuseUnknown(reader, parameters, labelPrefix);
  return {
    limit: limitOf(reader),
    after: afterOf(reader, (text) => (isTaskId(text) ? text : null)),
    isOldestFirst: orderOf(reader) === 'asc',
    status: statusOf(reader),
    model: modelOf(reader),
    createdAfter: secondsOf(reader, 'created_after'),
    createdBefore: secondsOf(reader, 'created_before'),
    labels: labelsOf(reader),
  };
}

const orders = ['asc', 'desc'] as const;

function orderOf({ text, fault }: QueryReader): 'asc' | 'desc' | null {
  const given = text('order');
  if (given === null) return null;
  const order = orders.find((known) => known === given);
  return order ?? fault('order', `must be one of ${words(orders)}; got ${show(given)}.`);
}

function statusOf({ text, fault }: QueryReader): TaskStatus | null {
  const given = text('status');
  if (given === null) return null;
  const status = taskStatuses.find((known) => known === given);
  return status ?? fault('status', `must be one of ${words(taskStatuses)}; got ${show(given)}.`);
}

/**
 * Any name is allowed, because tasks of a model that is no longer in the catalogue can still be
 * listed.
 */
export function modelOf({ text, fault }: QueryReader, name = 'model'): string | null {
  const given = text(name);
  if (given === null || /^[\w.-]{1,80}$/.test(given)) return given;
  return fault(name, `must be the name of a model; got ${show(given)}.`);
}

function labelsOf({ names, text, fault }: QueryReader): Labels {
  const params = names.filter((name) => name.startsWith(labelPrefix));
  if (params.length > labelsMax) {
    fault('label', `at most ${labelsMax} labels filter a list; got ${params.length}.`);
    return {};
  }
  const labels = params.map((param) => {
    const name = param.slice(labelPrefix.length);
    const given = text(param) ?? '';
    const found = given.includes('\0') ? 'holds a NUL.' : labelFault(name, given);
    if (found) fault(param, found);
    return [name, given] as const;
  });
  return Object.fromEntries(labels);
}

function secondsOf({ text, fault }: QueryReader, name: string): number | null {
  const given = text(name);
  if (given === null) return null;
  if (/^\d{1,11}$/.test(given)) return Number(given);
  return fault(
    name,
    `must be a time in whole Unix seconds, of at most 11 digits; got ${show(given)}.`,
  );
}
