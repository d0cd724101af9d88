// The list of Ark's form: numbered pages, with filters.

import { show, words } from '../../../contract/field';
import type { VideoRequest } from '../../../contract/request';
import type { TaskObject } from '../../../contract/task';
import { isTaskId } from '../../../database/ids';
import { endListed, modelOf } from '../../../tasks/list.routes';
import { listNumbered, numberedStatuses, reachedMax } from '../../../tasks/numbered.rows';
import { findOptions } from '../../../tasks/tasks.rows';
import { answerJsonText } from '../../context';
import { type QueryReader, readQuery, refuseUnknown } from '../../paging';
import { queryOf } from '../../query';
import type { Handler } from '../shape';

const pageSizeMax = 500;
const idsName = 'filter.task_ids';
const parameters = [
  'page_num',
  'page_size',
  'filter.status',
  'filter.model',
  'filter.service_tier',
  idsName,
];

export function listArkTasks(
  form: (task: TaskObject, sent?: Partial<VideoRequest>) => object,
): Handler {
  return async (ctx) => {
    const { db, caller } = ctx.state;
    // An empty parameter is absent, and only the ids may be repeated, as for the clients of Ark.
    const given = Object.entries(queryOf(ctx)).filter(([, value]) => value !== '');
    const { [idsName]: sentIds, ...others } = Object.fromEntries(given);
    const ids = sentIds === undefined ? undefined : [sentIds].flat();
    const filters = readQuery(others, (reader) => filtersOf(reader, ids?.length ?? 0));
    const { rows, total } = await listNumbered(db, {
      accountId: caller.accountId,
      ids: ids?.filter(isTaskId) ?? null,
      ...filters,
    });
    await endListed(ctx, rows);
    const tasks = rows.map(({ object }) => JSON.parse(object) as TaskObject);
    const options = await findOptions(
      db,
      tasks.map(({ id }) => id),
    );
    const items = tasks.map((task) => form(task, options.get(task.id)));
    answerJsonText(ctx, JSON.stringify({ items, total }));
  };
}

function filtersOf(reader: QueryReader, idCount: number) {
  refuseUnknown(reader, parameters);
  const limit = numberOf(reader, 'page_size', 10, pageSizeMax);
  const page = numberOf(reader, 'page_num', 1, reachedMax);
  const offset = (page - 1) * limit;
  if (offset >= reachedMax) {
    const sentence = `this list reaches the newest ${reachedMax} tasks; GET /v1/tasks reads all.`;
    reader.fault('page_num', sentence);
  }
  if (idCount > pageSizeMax) {
    reader.fault(idsName, `may be given at most ${pageSizeMax} times; got ${idCount}.`);
  }
  const tier = reader.text('filter.service_tier');
  if (tier !== null && tier !== 'default') {
    reader.fault('filter.service_tier', `must be "default"; got ${show(tier)}.`);
  }
  return {
    ...{ limit, offset },
    status: statusOf(reader),
    model: modelOf(reader, 'filter.model'),
  };
}

function statusOf({ text, fault }: QueryReader): (typeof numberedStatuses)[number] | null {
  const given = text('filter.status');
  if (given === null) return null;
  const status = numberedStatuses.find((known) => known === given);
  if (status) return status;
  const wanted = `must be one of ${words(numberedStatuses)}`;
  return fault('filter.status', `${wanted}; got ${show(given)}.`);
}

function numberOf({ text, fault }: QueryReader, name: string, absent: number, max: number): number {
  const given = text(name);
  if (given === null) return absent;
  if (/^\d{1,5}$/.test(given) && Number(given) >= 1 && Number(given) <= max) return Number(given);
  fault(name, `must be a number from 1 to ${max}; got ${show(given)}.`);
  return absent;
}
