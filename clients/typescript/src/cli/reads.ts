// The commands that only read: each makes the texts that are printed.

import type { Account, File, Model, Movement, Webhook } from '../api-types.ts';
import { accessOf } from '../environment.ts';
import { type ClientOptions, createTransport } from '../transport.ts';
import { limitOf, type Values } from './arguments.ts';

export type Read = <T>(path: string) => Promise<T>;

/** Reads a path of the service for which the client has no method. */
export function createRead(options: ClientOptions, signal: AbortSignal): Read {
  const { baseUrl, apiKey } = accessOf(options);
  const transport = createTransport(options);
  const headers = { accept: 'application/json', authorization: `Bearer ${apiKey}` };
  return async <T>(path: string) => {
    const url = `${baseUrl.replace(/\/+$/, '')}${path}`;
    return (await transport.json<T>({ method: 'GET', url, headers, signal })).value;
  };
}

type Texts = (read: Read, operand: string, values: Values) => AsyncGenerator<string, void>;

export const reads: Readonly<Record<string, Texts>> = {
  async *models(read, id) {
    const { data } = await read<{ data: Model[] }>('/v1/models');
    if (id) yield shown(found(data, id));
    for (const model of id ? [] : data) {
      const { price_per_second, currency, resolution } = model.plain_video;
      const end = model.retires ? `  retires ${model.retires}` : '';
      yield `${model.id}  ${price_per_second} ${currency} a second of ${resolution}${end}`;
    }
  },

  async *account(read) {
    yield shown(await read<Account>('/v1/account'));
  },

  async *statement(read, _, values) {
    for await (const line of pages<Movement>(read, '/v1/account/statement', limitOf(values))) {
      const { at, kind, change, balance_after, currency, task_id, reason } = line;
      const about = task_id ?? reason;
      yield `${timeOf(at)}  ${kind.padEnd(12)}  ${change}  ${balance_after} ${currency}  ${about}`;
    }
  },

  async *files(read, id, values) {
    if (id) yield shown(await read<File>(`/v1/files/${encodeURIComponent(id)}`));
    if (id) return;
    for await (const file of pages<File>(read, '/v1/files', limitOf(values))) {
      const { created_at, kind, bytes, name } = file;
      yield `${file.id}  ${timeOf(created_at)}  ${kind}  ${bytes}  ${name ?? ''}`.trimEnd();
    }
  },

  async *webhooks(read, id) {
    const { data } = await read<{ data: Webhook[] }>('/v1/webhooks');
    if (id) yield shown(found(data, id));
    for (const one of id ? [] : data) yield `${one.id}  ${one.events.join(',')}  ${one.url}`;
  },
};

const shown = (value: unknown) => JSON.stringify(value, null, 2);

export const timeOf = (seconds: number) =>
  new Date(seconds * 1_000).toISOString().replace(/\.\d+Z/, 'Z');

/** These lists are short, and the service has no call for one entry. */
function found<T extends { readonly id: string }>(all: readonly T[], id: string): T {
  const one = all.find((entry) => entry.id === id);
  if (!one) throw new Error(`There is no "${id}" in the list.`);
  return one;
}

async function* pages<T>(read: Read, path: string, limit: number): AsyncGenerator<T, void> {
  let after = '';
  for (let left = limit; left > 0; ) {
    const query = `limit=${Math.min(100, left)}${after && `&after=${encodeURIComponent(after)}`}`;
    const { data, next } = await read<{ data: T[]; next: string | null }>(`${path}?${query}`);
    yield* data;
    if (next === null) return;
    left -= data.length;
    after = next;
  }
}
