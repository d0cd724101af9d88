// What an operator sees while the console's process or its database is dead: a banner over what was read
// before. It goes when the server is back, without a reload and without another sign-in.

import { anAccountWith, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { startConsole, type TestConsole } from '../support/console';
import { type Cutter, startCutter } from '../support/cutter';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { until } from '../support/until';
import { browse, type ConsoleInBrowser, describeInBrowser } from './in-browser';

describeInBrowser('a dead server', () => {
  let database: TestDatabase;
  let cutter: Cutter;
  let served: TestConsole;
  let opened: ConsoleInBrowser;
  let page: ConsoleInBrowser['page'];

  beforeAll(async () => {
    database = await createTestDatabase();
    await anAccountWith(database.db, 'acct_1', 100_000_000);
    await database.db('loops').insert({ kind: 'watcher', channel: 'kling', ran_at: new Date() });
    cutter = await startCutter(database.operatorUrl);
    served = await start();
    opened = await browse(served);
    ({ page } = opened);
  });
  afterAll(async () => {
    await opened?.close();
    await served?.close();
    await cutter?.close();
    await database?.drop();
  });

  /** Starts the console, or starts it again at the same address. */
  const start = () =>
    startConsole({
      ...{ isTimed: true, through: async () => cutter.url },
      known: { database, ...(served ? { owner: served.keys.owner } : {}) },
      settings: served ? { CONSOLE_PORT: new URL(served.url).port } : {},
    });

  const servers = {
    console: {
      says: 'The console cannot be reached.',
      die: () => served.close(),
      async live() {
        served = await start();
      },
    },
    database: {
      says: 'The database does not answer at the moment.',
      // Each connection is cut as soon as something is sent, that of a new one too.
      die: async () => cutter.cutAt('', 'before', Number.POSITIVE_INFINITY),
      live: async () => cutter.cutAt(0, 'before'),
    },
  };

  async function aTask(): Promise<string> {
    const taskId = aTaskId();
    await openNew(database.db, anOpening('acct_1', taskId, 1_000_000));
    return taskId;
  }
  const linkTo = (id: string) => page.getByRole('link', { name: `…${id.slice(-6)}` });
  const banners = () => page.locator('.banner');
  const dies = async ({ die, says }: (typeof servers)['console']) => {
    await die();
    await opened.passes(61_000);
    // Of the frame and of what it shows.
    await banners().filter({ hasText: says }).nth(1).waitFor();
  };
  const lives = async ({ live }: (typeof servers)['console']) => {
    await live();
    await opened.passes(61_000);
    await until('no banner is left', async () => (await banners().count()) === 0);
    expect(await page.evaluate('globalThis.isSame')).toBe(true);
  };

  test.each(Object.keys(servers) as (keyof typeof servers)[])(
    'the %s is said to be away over what was read before, and what is new is shown when it is back',
    async (name) => {
      const server = servers[name];
      const first = await aTask();
      await opened.signIn('operator', '#/tasks');
      await linkTo(first).waitFor();
      await page.evaluate('globalThis.isSame = true');

      await dies(server);
      expect(await linkTo(first).count()).toBe(1);
      const second = await aTask();
      await lives(server);
      await linkTo(second).waitFor();

      await linkTo(second).click();
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.waitFor();
      await dies(server);
      expect(await timeline.count()).toBe(1);
      const change = `state = 'open', channel = 'kling', upstream_id = ?, sent_at = now(), opened_at = now()`;
      await database.db.raw(
        `update jobs set owes = null, due_at = null, ${change} where task_id = ?`,
        [`up-${name}`, second],
      );
      await lives(server);
      const waiting = page.getByRole('region', { name: 'Why it is waiting' });
      await waiting.getByText(`kling has it as up-${name}`).waitFor();

      // A page that was not read before says so too.
      await dies(server);
      await page.goBack();
      await page.locator('main .boot').waitFor();
      await page.locator('main .banner').waitFor();
      await lives(server);
      await linkTo(first).waitFor();
      expect(opened.complaints).toEqual([]);
    },
  );
});
