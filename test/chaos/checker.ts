// Checks a run from outside. The checker reads the records of the callers, the answers of GET, the
// ledger, the storage, the jobs that the studio accepted and the callbacks that arrived. It returns
// a sentence for every broken promise.

import { audit } from '../../src/money/audit.rows';
import { heldMicros } from '../support/books';
import type { Created } from './client';
import type { World } from './world';

interface Row {
  readonly id: string;
  readonly status: string;
  readonly holds: number;
  readonly resolutions: number;
  readonly net: number;
}

export async function brokenPromises(
  world: World,
  creates: readonly Created[],
): Promise<readonly string[]> {
  const rows = await rowsOf(world);
  const { generations: jobs, enhancements } = await acceptedJobs(world);
  return [
    ...checkCreates(creates, rows),
    ...rows.flatMap((row) => checkRow(row, jobs.get(row.id) ?? 0)),
    ...creates.flatMap(checkReads),
    ...checkJobs(jobs, rows),
    ...[...enhancements]
      .filter(([, count]) => count > 1)
      .map(([id, count]) => `${id} was enhanced ${count} times`),
    ...creates.flatMap((create) => checkEnding(create, rows, enhancements)),
    ...(await checkBooks(world)),
    ...(await checkResults(world)),
  ];
}

/** Every accepted create has exactly one task. Every other create has at most one task. */
function checkCreates(creates: readonly Created[], rows: readonly Row[]): string[] {
  const known = new Set(rows.map(({ id }) => id));
  const ids = creates.flatMap(({ outcome, id }) => (outcome === 'ok' && id ? [id] : []));
  const unknown = creates.filter(({ outcome }) => outcome === 'unknown').length;
  const strangers = rows.filter(({ id }) => !ids.includes(id)).length;
  return [
    ...ids.filter((id) => !known.has(id)).map((id) => `${id} was accepted and is lost`),
    ...(new Set(ids).size < ids.length ? ['two creates were answered with one id'] : []),
    ...(strangers > unknown
      ? [`${strangers} tasks whose id no caller was given, and only ${unknown} unknown creates`]
      : []),
  ];
}

function checkRow({ id, status, holds, resolutions, net }: Row, jobs: number): string[] {
  const final = status === 'succeeded' || status === 'failed';
  return [
    ...(final ? [] : [`${id} is ${status} for ever`]),
    // A task that ended before it was opened never had a hold.
    ...(holds === 1 || (holds === 0 && status === 'failed') ? [] : [`${id} has ${holds} holds`]),
    ...(final && resolutions !== holds ? [`${id} resolved its hold ${resolutions} times`] : []),
    ...(status === 'failed' && net !== 0 ? [`${id} failed and cost ${net}`] : []),
    ...(status === 'succeeded' && net <= 0 ? [`${id} succeeded and cost ${net}`] : []),
    ...(status === 'succeeded' && jobs !== 1 ? [`${id} was generated ${jobs} times`] : []),
    ...(jobs > 1 ? [`${id} was accepted ${jobs} times upstream`] : []),
  ];
}

/** A fault of the service fails no accepted task, and an enhanced task is enhanced. */
function checkEnding(
  { outcome, id, ends }: Created,
  rows: readonly Row[],
  enhancements: ReadonlyMap<string, number>,
): string[] {
  const status = rows.find((row) => row.id === id)?.status;
  if (outcome !== 'ok' || !id || !ends || !status) return [];
  const enhanced = enhancements.get(id) ?? 0;
  return [
    ...(status === ends.status ? [] : [`${id} ended ${status} instead of ${ends.status}`]),
    ...(enhanced === ends.enhancements
      ? []
      : [`${id} was enhanced ${enhanced} times instead of ${ends.enhancements}`]),
  ];
}

function checkReads({ id, seen }: Created): string[] {
  const broken: string[] = [];
  for (const [n, { step, status }] of seen.entries()) {
    const before = seen[n - 1];
    if (step < 0) broken.push(`${id} was read as ${status}`);
    if (before && step < before.step) {
      broken.push(`${id} stepped back from ${before.status} to ${status}`);
    }
  }
  return broken;
}

function checkJobs(jobs: ReadonlyMap<string, number>, rows: readonly Row[]): string[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...jobs.keys()].filter((id) => !known.has(id)).map((id) => `${id} runs for nobody`);
}

async function checkBooks({ db }: World): Promise<string[]> {
  const { differences } = await audit(db);
  const held = await heldMicros(db);
  return [
    ...differences.map((difference) => `the audit says ${JSON.stringify(difference)}`),
    ...(held === 0 ? [] : [`${held} is held for nobody`]),
  ];
}

/** The video of each task that succeeded is in the storage, and nothing else is. */
async function checkResults({ db, storage }: World): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string; key: string | null; bytes: number }[] }>(`
    select tasks.id, key, files.length as bytes
      from tasks left join files on files.task_id = tasks.id and files.state = 'stored'
     where tasks.status = 'succeeded'`);
  const objects = new Map<string, number>();
  for await (const { key, length } of storage.list('results/')) objects.set(key, length);
  const { rows: known } = await db.raw<{ rows: { key: string }[] }>('select key from files');
  const keys = new Set(known.map(({ key }) => key));
  return [
    ...rows
      .filter(({ key, bytes }) => key === null || objects.get(key) !== bytes)
      .map(({ id }) => `${id} succeeded and its video is not in the storage`),
    ...[...objects.keys()]
      .filter((key) => !keys.has(key))
      .map((key) => `${key} belongs to no file`),
  ];
}

/** Returns a sentence for each accepted task whose callback did not arrive under exactly one id. */
export function callbacksMissing(world: World, creates: readonly Created[]): readonly string[] {
  const ids = new Map<string, Set<string>>();
  for (const { body, headers } of world.receiver.received) {
    const { id } = JSON.parse(body) as { id: string };
    ids.set(id, (ids.get(id) ?? new Set()).add(String(headers['webhook-id'])));
  }
  const owed = creates.filter(({ outcome, callback }) => outcome === 'ok' && callback);
  return owed.flatMap(({ id }) => {
    const seen = ids.get(id ?? '')?.size ?? 0;
    return seen === 1 ? [] : [`${id} called back under ${seen} ids`];
  });
}

/** The sentences of `callbacksMissing`, each with the service's record of the callback. */
export function missingExplained(
  world: World,
  creates: readonly Created[],
): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${world.apiKey}` };
  const explain = async (line: string) => {
    const [id] = line.split(' ');
    const log = `${world.apis[0]}/v1/videos/generations/${id}/callbacks`;
    const reply = await fetch(log, { headers });
    return `${line}: ${await reply.text()}`;
  };
  return Promise.all(callbacksMissing(world, creates).map(explain));
}

/** Each task with its holds, its resolutions and its cost, computed from the transfers only. */
async function rowsOf({ db }: World): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(`
    select tasks.id, tasks.status,
           count(*) filter (where kind = 'hold')::int as holds,
           count(distinct tasks.id) filter (where kind in ('settle', 'refund'))::int as resolutions,
           coalesce(sum(case kind when 'settle' then amount when 'extra_charge' then amount
                                  else 0 end), 0)::bigint as net
      from tasks left join transfers on transfers.task_id = tasks.id
     group by tasks.id, tasks.status`);
  return rows;
}

interface Accepted {
  readonly kind: string;
  readonly client_request_id: string | null;
}

/** The numbers of jobs that the studio has accepted for each task. */
async function acceptedJobs({ stack }: World) {
  const { studioUrl, studioApiKey } = stack.addresses;
  const reply = await fetch(`${studioUrl}/admin/accepted`, {
    headers: { authorization: `Bearer ${studioApiKey}` },
  });
  const { items } = (await reply.json()) as { items: readonly Accepted[] };
  const generations = new Map<string, number>();
  const enhancements = new Map<string, number>();
  for (const { kind, client_request_id: id } of items) {
    const jobs = kind === 'generation' ? generations : enhancements;
    if (id) jobs.set(id, (jobs.get(id) ?? 0) + 1);
  }
  return { generations, enhancements };
}
