// Measures GET of finished tasks at fifty connections.

import { atLeast, type Finding, type Row } from '../row';
import { requestText, runLoad } from '../support/http-load';
import { alternate, compare } from '../support/rounds';
import { seedFinished } from '../support/seed';
import { readText } from '../support/tasks';
import type { Account, World } from '../world';

const tasks = 12_000;

export const readRow: Row = {
  name: 'get',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds } = world.settings;
    const account = await world.anAccount();
    const ids = await seedFinished(world, account, tasks);
    const stored = await alternate(rounds, readEach(world, account, ids), bareRows(world, ids));
    return [atLeast('GET finished, 50 connections', '/s', compare(stored), 0.8)];
  },
};

function readEach(world: World, account: Account, ids: readonly string[]): () => Promise<number> {
  const texts = ids.map((id) => readText(account, id));
  return () => load(world, world.apiUrl, (index) => texts[index % texts.length] ?? '');
}

function bareRows(world: World, ids: readonly string[]): () => Promise<number> {
  const texts = ids.map((id) => requestText('GET', `/row/${id}`, {}));
  return () => load(world, world.bare.url, (index) => texts[index % texts.length] ?? '');
}

async function load(
  { settings }: World,
  url: string,
  request: (index: number) => string,
): Promise<number> {
  const { perSecond } = await runLoad({
    url,
    connections: 50,
    until: { seconds: settings.quick ? 1 : 2 },
    request,
    check: ({ status, body }) => {
      if (status !== 200 || !body.includes('"succeeded"')) {
        throw new Error(`GET was answered with ${status}: ${body}`);
      }
    },
  });
  return perSecond;
}
