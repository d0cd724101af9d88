// Sends the reads of callers and operators about rows of a release, and compares the answers with
// those that the release gave.

import { setTimeout as pause } from 'node:timers/promises';
import { routes } from '../../src/console/routes';
import type { TestConsole } from '../support/console';
import { possibleRoutes, shapedRoutes } from '../support/routes';
import type { Service } from '../support/service';
import type { TableRow } from './rows';

interface Read {
  readonly as: 'caller' | 'operator';
  /** With `<month>` for the month of the movements. */
  readonly path: string;
}

export interface Answered extends Read {
  readonly status: number;
  readonly answer: unknown;
}

const endings: Readonly<Record<string, string>> = { image: 'png', video: 'mp4', audio: 'wav' };

/** Every read that this version has, about every row that it can name. */
export function readsOf(rows: readonly TableRow[], accountId: string): readonly Read[] {
  const idsIn = (name: string, isOwn = false) =>
    rows
      .filter(([table, row]) => table === name && (!isOwn || row.account_id === accountId))
      .map(([, row]) => String(row.id));
  // The others tell about the process or the catalogue. The singular paths are the same code.
  const ofRows = /^GET \/(v1\/(?!models|video\/)|api\/)/;
  const paths = [...possibleRoutes(), ...shapedRoutes()]
    .filter((route) => ofRows.test(route))
    .map((route) => route.slice('GET '.length));
  const own = {
    ...{ task_id: idsIn('tasks', true), video_id: idsIn('tasks', true), id: idsIn('tasks', true) },
    ...{ file_id: idsIn('files', true), month: ['<month>'] },
    ...{ key_id: idsIn('api_keys', true), webhook_id: idsIn('webhooks', true) },
  };
  const links = rows.flatMap(([table, row]) =>
    table === 'files'
      ? [
          {
            as: 'caller' as const,
            path: `/files/${String(row.link_token)}.${endings[String(row.media)]}`,
          },
        ]
      : [],
  );
  const ofOperators = routes
    .filter(({ method, path }) => method === 'GET' && !path.endsWith('/catalogue'))
    .map(({ path }) => path.replace('/admin/v1', '').replace(/summary$/, 'summary?month=<month>'));
  const every = {
    ...{ KEYID: idsIn('api_keys'), WEBHOOK: idsIn('webhooks'), NAME: ['studio'] },
    ID: idsIn('accounts'),
    TASK: idsIn('tasks'),
    account: idsIn('accounts'),
    ACCOUNT: idsIn('accounts'),
  };
  const tasks = ['?status=failed', '?label.order=4711', '?order=asc&limit=5'];
  return [
    ...new Set(paths.flatMap((path) => filled(path, /\{(\w+)\}/, own))),
    ...tasks.map((query) => `/v1/tasks${query}`),
  ]
    .map((path): Read => ({ as: 'caller', path }))
    .concat(
      links,
      ofOperators
        .flatMap((path) => {
          const ids = path.startsWith('/tasks') ? { ...every, ID: idsIn('tasks') } : every;
          return filled(path, /:(\w+)/, ids);
        })
        .map((path): Read => ({ as: 'operator', path })),
    );
}

function filled(
  path: string,
  name: RegExp,
  values: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const found = name.exec(path);
  if (!found) return [path];
  const ids = values[found[1] ?? ''];
  if (!ids) throw new Error(`No value for ${found[1]} in ${path}`);
  return ids.flatMap((id) => filled(path.replace(found[0], id), name, values));
}

export async function answersTo(
  reads: readonly Read[],
  { url, apiKey, db }: Pick<Service, 'url' | 'apiKey' | 'db'>,
  operators: TestConsole,
): Promise<readonly Answered[]> {
  const { rows } = await db.raw<{ rows: { month: string }[] }>(
    `select to_char(max(created_at), 'YYYY-MM') as month from transfers`,
  );
  const month = rows[0]?.month ?? '';
  const answers: Answered[] = [];
  for (const read of reads) {
    const path = read.path.replace('<month>', month);
    const { status, text, type } =
      read.as === 'caller'
        ? await get(`${url}${path}`, apiKey)
        : { ...(await operators.as('owner', 'GET', path)), type: 'application/json' };
    const isJson = type?.startsWith('application/json') === true;
    const answer = isJson ? steady(JSON.parse(text)) : { type, length: text.length };
    answers.push({ ...read, status, answer });
  }
  return answers;
}

interface Got {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

/**
 * A redirect is an answer: its link leads to the address that the release had. A refusal at a limit is
 * none: it says how fast the reads are.
 */
async function get(url: string, apiKey: string): Promise<Got> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const reply = await fetch(url, { headers, redirect: 'manual' });
  if (reply.status === 429) {
    await pause(Number(reply.headers.get('retry-after')) * 1_000);
    return get(url, apiKey);
  }
  const type = reply.headers.get('content-type');
  return { status: reply.status, type, text: await reply.text() };
}

const time = /^\d{4}-\d\d(-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?)?$/;

const words = ['message', 'sentence'];

/** Times move with each restore, and the words of messages may change. */
function steady(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => steady(item));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, steady(of, name)]));
  }
  if (typeof value === 'string' && (time.test(value) || words.includes(key))) return '<varies>';
  const isTime = typeof value === 'number' && value > 1_600_000_000 && value < 4_000_000_000_000;
  return isTime ? '<varies>' : value;
}

/** The answer without the leaves that differ between two answers to the same read. */
export function withoutVarying(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.map((item, n) => withoutVarying(item, other[n]));
  }
  if (isObject(one) && isObject(other)) {
    return Object.fromEntries(
      Object.entries(one).map(([name, value]) => [name, withoutVarying(value, other[name])]),
    );
  }
  return one === other ? one : '<varies>';
}

/** What an answer of this version lacks or changes. It may have more fields. */
export function differences(old: unknown, now: unknown, at: string): readonly string[] {
  if (old === '<varies>') return now === undefined ? [`${at} is gone`] : [];
  if (Array.isArray(old) && Array.isArray(now)) {
    const lengths = old.length === now.length ? [] : [`${at} has ${now.length} of ${old.length}`];
    return [...lengths, ...old.flatMap((item, n) => differences(item, now[n], `${at}[${n}]`))];
  }
  if (isObject(old) && isObject(now)) {
    return Object.entries(old).flatMap(([name, value]) =>
      differences(value, now[name], `${at}.${name}`),
    );
  }
  if (old === now) return [];
  const wasMoney = sums.test(at) && typeof old === typeof now && now !== null;
  return wasMoney ? [] : [`${at} was ${JSON.stringify(old)}, and is ${JSON.stringify(now)}`];
}

/** Of this day or month: the rows may lie before it. */
const sums = /\/(summaries|summary|budgets)\b|\.chargedToday$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
