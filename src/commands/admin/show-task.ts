// The command `tasks show`: everything about one task but its content. What the customer wrote, and
// links to what was made, are content: whoever has a link sees the video.

import type { Knex } from 'knex';
import { findTaskCallback } from '../../callbacks/callbacks.rows';
import type { TaskError, TaskObject } from '../../contract/task';
import type { JobReport } from '../../jobs/job.rules';
import { findJob, type Job } from '../../jobs/queries.rows';
import { correctionsOf } from '../../money/statement.rows';
import { includes } from '../../operators/roles.rules';
import { findTaskOfJob, findTaskRow, type TaskRow } from '../../tasks/tasks.rows';
import { workflowsUrl } from '../../tasks/workflows-url.rules';
import { notFound } from '../command';
import type { AdminCommand, AdminContext } from './command-line';
import { amount, amountOrNull, fields, table } from './tables';
import { type Calculation, lifeOf } from './task-life';

export const showTask: AdminCommand = {
  name: 'tasks show',
  http: { at: 'GET /tasks/:ID', role: 'viewer' },
  operands: ['ID'],
  about: 'one task, by its id or that of a job upstream: why it waits, its money, its jobs',
  async run(context, input) {
    const named = input.operand('ID');
    const taskId = (await findTaskOfJob(context.db(), named)) ?? named;
    const row = await findTaskRow(context.db(), taskId);
    if (!row) throw notFound(`There is no task ${taskId}.`);
    const jobs = await jobsOf(context, row);
    const corrections = await shownCorrections(context.db(), taskId);
    const callback = await findTaskCallback(context.db(), taskId);
    const ui = linkTo(context, taskId);
    const head = { ...shownTask(row), callback: callback?.state ?? null, ...ui };
    const life = await lifeOf(context, taskId);
    const data = { ...head, jobs, corrections, ...life };
    const { task, ...plain } = head;
    const rows = table(jobs, [
      { title: 'JOB', of: ({ kind }) => kind },
      { title: 'CHANNEL', of: ({ channel }) => channel },
      { title: 'MODEL', of: ({ upstreamModel }) => upstreamModel },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'UPSTREAM ID', of: ({ upstreamId }) => upstreamId },
      { title: 'SENT', of: ({ sentAt }) => sentAt },
      { title: 'COST', of: (job) => costOf(job) },
      { title: 'FAILURE', of: ({ report, refusal }) => (report?.failure ?? refusal)?.code },
      { title: 'FINDING', of: (job) => job.finding },
    ]);
    const shown = {
      ...{ taskId, accountId: row.accountId, accountName: life?.accountName },
      ...{ keyId: row.keyId, keyName: life?.keyName },
      ...plain,
      ...(task.error ? { error: sentenceOf(task.error) } : {}),
    };
    const corrected = corrections.length > 0 ? [correctionTable(corrections)] : [];
    const sentences = life ? [life.waiting.map(({ sentence }) => sentence), life.money].flat() : [];
    const times = table(life?.timeline ?? [], [
      { title: 'STEP', of: ({ step }) => step },
      { title: 'AT', of: ({ at }) => at },
    ]);
    const lines = life ? linesOf(life.calculation) : [];
    const parts = [fields(shown), sentences.join('\n'), ...lines, times, rows, ...corrected];
    parts.push(JSON.stringify(task, null, 2));
    return { data, text: parts.join('\n\n') };
  },
};

const sentenceOf = ({ code, message }: TaskError) => `${code}: ${message}`;

/** A remark on a job that needs the operator's attention; null for every other job. */
function findingOf(
  { missingSince, cancel, state, report }: Job,
  taskStatus: TaskRow['status'],
): string | null {
  if (taskStatus === 'failed' && report?.status === 'succeeded') {
    return 'succeeded, but its task failed: it is at our cost';
  }
  if (cancel === 'given up') return 'cancel given up: it goes on at our cost';
  if (cancel === 'wanted') return 'is to be cancelled';
  return missingSince && state === 'open' ? 'its provider does not know it' : null;
}

/** What the jobs cost is for operators: a viewer gets jobs without `costMicros`. */
async function jobsOf({ db, role }: AdminContext, { id: taskId, status }: TaskRow) {
  const kinds = ['generation', 'super_resolution'] as const;
  const found = await Promise.all(kinds.map((kind) => findJob(db(), { taskId, kind })));
  return found.flatMap((job) => {
    if (!job) return [];
    const { costMicros, ...shown } = job;
    const report = job.report && withoutResultLinks(job.report);
    const cost = includes(role, 'operator') ? { costMicros } : {};
    return [{ ...shown, ...cost, report, finding: findingOf(job, status) }];
  });
}

function costOf({ costMicros = null }: { readonly costMicros?: number | null }): string | null {
  return amountOrNull(costMicros);
}

function withoutResultLinks({ result, ...report }: JobReport) {
  if (!result) return report;
  const { videoUrl: _video, lastFrameUrl: _frame, ...rest } = result;
  return { ...report, result: rest };
}

async function shownCorrections(db: Knex, taskId: string) {
  const corrections = await correctionsOf(db, taskId);
  return corrections.map(({ changeMicros, ...one }) => ({ ...one, amount: amount(changeMicros) }));
}

function correctionTable(rows: Awaited<ReturnType<typeof shownCorrections>>): string {
  return table(rows, [
    { title: 'REFERENCE', of: ({ reference }) => reference },
    { title: 'TO CUSTOMER', of: (row) => row.amount },
    { title: 'REASON', of: ({ reason }) => reason },
    { title: 'AT', of: ({ at }) => at },
  ]);
}

function linesOf({ of, priceList, items }: Calculation): readonly string[] {
  if (items.length === 0) return [];
  const prices = priceList === null ? 'the prices for everybody' : `the price list ${priceList}`;
  const title = priceList === undefined ? `Its ${of}:` : `Its ${of}, by ${prices}:`;
  const rows = table(items, [
    { title: 'ITEM', of: ({ kind }) => kind },
    { title: 'QUANTITY', of: ({ quantity }) => quantity },
    { title: 'UNIT', of: ({ unit }) => unit },
    { title: 'UNIT PRICE', of: (item) => item.unit_price },
    { title: 'AMOUNT', of: (item) => item.amount },
  ]);
  return [`${title}\n${rows}`];
}

function linkTo({ config }: AdminContext, taskId: string) {
  const workflows = workflowsUrl(config);
  return workflows ? { temporalUi: `${workflows}${taskId}` } : {};
}

export function shownTask(row: TaskRow) {
  const task = withoutLinks(JSON.parse(row.object) as TaskObject);
  return {
    taskId: row.id,
    accountId: row.accountId,
    keyId: row.keyId,
    status: row.status,
    model: task.model,
    traceId: row.traceId,
    createdAt: row.createdAt,
    deadlineAt: row.deadlineAt,
    task,
  };
}

function withoutLinks({ video_url: _link, data, ...task }: TaskObject) {
  return {
    ...task,
    data: data.map(({ url: _url, last_frame_url: _frame, ...video }) => video),
  };
}
