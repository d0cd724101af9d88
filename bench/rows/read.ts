// Measures GET of finished tasks at fifty connections. First every task comes from the database,
// then every task comes from the memory of the API.

import { atLeast, type Finding, type Row } from '../row';
import { requestText, runLoad } from '../support/http-load';
import { alternate, compare } from '../support/rounds';
import { seedFinished } from '../support/seed';
import { readText } from '../support/tasks';
import type { Account, World } from '../world';

// The API keeps ten thousand final objects in memory and drops the oldest. With more tasks, each
// read in turn, no task is in memory when it is read again.
const beyondMemory = 12_000;

export const readRow: Row = {
  name: 'get',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds } = world.settings;
    const account = await world.anAccount();
    const ids = await seedFinished(world, account, beyondMemory);
    const stored = await alternate(rounds, readEach(world, account, ids), bareRows(world, ids));
    const few = ids.slice(0, 100);
    const remembered = await alternate(rounds, readEach(world, account, few), async () =>
      load(world, world.bare.url, () => bareMemory),
    );
    return [
      atLeast('GET finished, 50 connections', '/s', compare(stored), 0.8),
      atLeast('GET finished again, 50 connections', '/s', compare(remembered), 0.5),
    ];
  },
};

const bareMemory = requestText('GET', '/memory', {});

function readEach(world: World, account: Account, ids: readonly string[]): () => Promise<number> {
  const texts = ids.map((id) => readText(account, id));
  let at = 0;
  return () => {
    // Continues after the last task of the previous round. The first tasks may still be in memory.
    const from = at;
    return load(world, world.apiUrl, (index) => {
      at = (from + index + 1) % texts.length;
      return texts[(from + index) % texts.length] ?? '';
    });
  };
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
