// GET /v1/tasks: the account's tasks, newest first, in pages.

import { labelFault } from '../../contract/labels';
import type { Labels } from '../../contract/request';
import { type TaskStatus, taskStatuses } from '../../contract/vocabulary';
import { listTasks } from '../../db/list-tasks';
import type { KeyedRouter } from '../context';
import { answerJsonText, Refused } from '../context';
import { isTaskId } from '../create/task-id';
import type { ApiDeps } from '../deps';
import { invalid, limitOf, parameter } from './paging';

// A task has at most this many labels, while a query string has room for hundreds.
const labelsMax = 16;
const labelPrefix = 'label.';
const parameters = ['limit', 'after', 'status', 'model', 'created_after', 'created_before'];

export function listRoutes(router: KeyedRouter, { db }: ApiDeps): void {
  router.get('/v1/tasks', async (ctx) => {
    refuseUnknown(ctx.query);
    const limit = limitOf(ctx.query);
    const status = statusOf(ctx.query);
    const model = modelOf(ctx.query);
    const after = afterOf(ctx.query);
    const labels = labelsOf(ctx.query);
    const createdAfter = secondsOf(ctx.query, 'created_after');
    const createdBefore = secondsOf(ctx.query, 'created_before');
    const { rows, next } = await listTasks(db, {
      accountId: ctx.state.caller.accountId,
      limit,
      ...(status ? { status } : {}),
      ...(model ? { model } : {}),
      ...(after ? { after } : {}),
      ...(createdAfter === null ? {} : { createdAfter }),
      ...(createdBefore === null ? {} : { createdBefore }),
      labels,
    });
    answerJsonText(
      ctx,
      `{"data":[${rows.map(({ object }) => object).join(',')}],"next":${JSON.stringify(next)}}`,
    );
  });
}

/** A misspelt filter would otherwise be ignored and list tasks that the caller wants left out. */
function refuseUnknown(query: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(query).find(
    (name) => !parameters.includes(name) && !name.startsWith(labelPrefix),
  );
  if (unknown === undefined) return;
  const name = unknown.slice(0, 80);
  const known = `${parameters.join(', ')} and label.NAME`;
  throw new Refused(
    invalid(name, `${name}: there is no such parameter; the parameters are ${known}.`),
  );
}

function statusOf(query: Readonly<Record<string, unknown>>): TaskStatus | null {
  const text = parameter(query, 'status');
  if (text === null) return null;
  const status = taskStatuses.find((known) => known === text);
  if (status) return status;
  throw new Refused(invalid('status', `status must be one of ${taskStatuses.join(', ')}.`));
}

/** Any name is allowed, because tasks of a model that left the catalogue can still be listed. */
function modelOf(query: Readonly<Record<string, unknown>>): string | null {
  const text = parameter(query, 'model');
  if (text === null || /^[\w.-]{1,80}$/.test(text)) return text;
  throw new Refused(invalid('model', 'model must be the name of a model.'));
}

function afterOf(query: Readonly<Record<string, unknown>>): string | null {
  const text = parameter(query, 'after');
  if (text === null || isTaskId(text)) return text;
  throw new Refused(invalid('after', 'after must be the "next" of the page before.'));
}

function labelsOf(query: Readonly<Record<string, unknown>>): Labels {
  const params = Object.keys(query).filter((name) => name.startsWith(labelPrefix));
  if (params.length > labelsMax) {
    throw new Refused(invalid('label', `At most ${labelsMax} labels narrow a list.`));
  }
  const labels: [string, string][] = [];
  for (const param of params) {
    const text = parameter(query, param) ?? '';
    const name = param.slice(labelPrefix.length);
    const fault = text.includes('\0') ? 'holds a NUL.' : labelFault(name, text);
    if (fault) throw new Refused(invalid(param.slice(0, 80), `${param.slice(0, 80)}: ${fault}`));
    labels.push([name, text]);
  }
  return Object.fromEntries(labels);
}

function secondsOf(query: Readonly<Record<string, unknown>>, name: string): number | null {
  const text = parameter(query, name);
  if (text === null) return null;
  if (/^\d{1,11}$/.test(text)) return Number(text);
  throw new Refused(invalid(name, `${name} must be a time in whole Unix seconds.`));
}
