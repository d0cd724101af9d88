// Tests the pages Attention and Channels and the search box with a real browser: what needs a person leads
// to the channel that is paused, and a search leads to the task that waits for it.

import { writeWorld } from '../money/usage-world';
import { adminWith } from '../support/admin';
import { anAccountWith, anOpening, openNew, randomFrom, seedOfRun } from '../support/books';
import { aTaskId } from '../support/builders';
import { dearerText } from '../support/catalogue';
import { type ConsoleInBrowser, describeInBrowser, openConsole } from './in-browser';

const hostile = '"><img src=x onerror=alert(1)>';

describeInBrowser('the pages Attention and Channels', () => {
  let opened: ConsoleInBrowser;
  let taskId: string;
  const admin = adminWith(() => opened.served.environment);
  const db = () => opened.served.database.db;

  beforeAll(async () => {
    opened = await openConsole();
    await writeWorld(db(), randomFrom(seedOfRun()), { steps: 40, days: 5 });
    const accountId = await anAccountWith(db(), 'acct_find', 100_000_000);
    taskId = aTaskId();
    await openNew(db(), anOpening(accountId, taskId, 1_000_000));
    await db().raw(`delete from jobs where task_id <> ? and state <> 'closed'`, [taskId]);
    await db().raw(
      `update jobs set owes = null, due_at = null, state = 'waiting', channels = array['studio'],
              waiting_since = now()
        where task_id = ?`,
      [taskId],
    );
    await db().raw(`insert into loops (kind, ran_at, agreed_until) values ('audit', now(), now())`);
    await db().raw(`update loops set ran_at = now()`);
    await db().raw(`update usage_state set until = now()`);
    await db().raw(
      "update tasks set deadline_at = now() + interval '1 day' where finished_at is null",
    );
  }, 180_000);
  afterAll(() => opened?.close());

  const channelCard = (name: string) => opened.page.getByRole('listitem', { name, exact: true });

  test('an operator pauses a channel with a reason by keyboard; a search and Attention lead to it', async () => {
    const { page } = opened;
    await opened.signIn('operator', '#/channels');
    await channelCard('studio').getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Why').waitFor();
    await page.keyboard.type(hostile);
    await page.keyboard.press('Enter');
    await channelCard('studio').getByText(`operator paused it: "${hostile}"`).waitFor();
    await page.getByRole('link', { name: 'Attention' }).click();
    const need = page.getByRole('listitem').filter({ hasText: 'operator paused studio' });
    await need.getByText(`operator paused studio: "${hostile}". 1 job waits for it.`).waitFor();
    await page.locator('body').press('/');
    await page.keyboard.type(taskId);
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: 'Why it is waiting' })
      .getByText('operator paused studio')
      .waitFor();
    expect(page.url()).toContain(taskId);
    await page.goBack();
    await page.getByRole('heading', { name: 'Attention' }).waitFor();
    await need.getByRole('link', { name: 'Show' }).click();
    await channelCard('studio').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('rotated');
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await channelCard('studio').getByRole('button', { name: 'Pause' }).waitFor();
    const { json } = await admin('log --limit 2 --json');
    expect(json).toMatchObject([
      { command: 'channels resume studio', why: 'rotated', via: 'console' },
      { command: 'channels pause studio', why: hostile, via: 'console' },
    ]);
  });

  test('a page that was hidden goes on, a dialog does not change its act, and a late answer does not hide one', async () => {
    const { page } = opened;
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })`,
      );
    await opened.signIn('operator', '#/attention');
    await hide(true);
    await page.getByRole('link', { name: 'Channels' }).click();
    await channelCard('studio').getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('late');
    await admin(['channels', 'pause', 'studio', '--as', 'Ann', '--why', 'first']);
    await hide(false);
    await opened.passes(30_000);
    await channelCard('studio').getByText('Ann paused it').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);

    // The answer to a read after an hour without a person is late.
    const [late, release] = gate();
    const [read, isRead] = gate();
    await page.route(
      '**/admin/v1/channels',
      async (route) => {
        const response = await route.fetch();
        isRead();
        await late;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    const [polled] = await Promise.all([
      page.waitForRequest('**/admin/v1/channels'),
      opened.passes(3_600_000),
    ]);
    expect(polled.headers()['x-unattended']).toBe('1');
    await read;
    await channelCard('studio').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('rotated');
    const [acted] = await Promise.all([
      page.waitForRequest('**/channels/studio/resume'),
      page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click(),
    ]);
    expect(acted.headers()['x-unattended']).toBeUndefined();
    await channelCard('studio').getByRole('button', { name: 'Pause' }).waitFor();
    release();
    await (await polled.response())?.finished();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    expect(await channelCard('studio').getByRole('button', { name: 'Resume' }).count()).toBe(0);
  });

  test('a pasted key leaves the browser as its last four characters only, and a link or a secret not at all', async () => {
    const { page, served } = opened;
    const { json } = await admin('keys create --account acct_find --name backend --json');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`));
    await opened.signIn('viewer', '#/attention');
    await page.getByRole('searchbox', { name: 'Search' }).fill(json.apiKey);
    await page.keyboard.press('Enter');
    await page
      .getByRole('heading', { name: /acct_find|Nothing here/ })
      .waitFor()
      .catch(() => undefined);
    for (const secret of ['whsec_abcdefgh', 'https://video.test/files/abcdefgh']) {
      await page.getByRole('searchbox', { name: 'Search' }).fill(secret);
      await page.keyboard.press('Enter');
      await page.getByText('they stay in your browser').waitFor();
      await page.goto(`${served.url}/#/attention`);
    }
    expect(asked.filter((url) => url.includes('abcdefgh'))).toEqual([]);
    await page.goto(`${served.url}/#/find?q=${json.apiKey}`);
    await page.getByRole('cell', { name: json.keyId }).waitFor();
    expect(asked.some((url) => url.includes(`q=${json.apiKey.slice(-4)}`))).toBe(true);
    expect(asked.filter((url) => url.includes(json.apiKey) && !url.includes('/session'))).toEqual(
      [],
    );
  });

  test('what a create would cost, and what a changed catalogue would change, is shown and not stored', async () => {
    const { page } = opened;
    await opened.signIn('operator', '#/channels');
    const routes = page.getByRole('region', { name: 'What would this create cost' });
    await routes.getByLabel('Body of the create').fill('{"model": "studio-2.0", "prompt": "x"}');
    await routes.getByRole('button', { name: 'Plan it' }).click();
    await routes.getByText('The create would hold').waitFor();
    await routes.getByRole('cell', { name: 'studio', exact: true }).waitFor();
    await routes.getByLabel('Body of the create').fill('{"model": "none"}');
    await routes.getByRole('button', { name: 'Plan it' }).click();
    await routes.getByText('missing_required_parameter').waitFor();
    const preview = page.getByRole('region', { name: 'Preview of a changed catalogue' });
    await preview.getByLabel('The whole changed catalogue').fill(dearerText);
    await preview.getByRole('button', { name: 'Preview' }).click();
    await preview.getByRole('table', { name: 'Before and after' }).waitFor();
    await preview
      .getByRole('table', { name: 'Who pays more' })
      .getByText('everybody')
      .first()
      .waitFor();
    await preview.getByLabel('The whole changed catalogue').fill(`${hostile}: 1`);
    await preview.getByRole('button', { name: 'Preview' }).click();
    await preview.getByText('The catalogue cannot be used.').waitFor();
  });

  test('a viewer sees no button that would be refused, and no cost in any answer', async () => {
    const { page } = opened;
    await opened.signIn('viewer', '#/channels');
    await page.getByRole('region', { name: 'Catalogue' }).getByRole('table').waitFor();
    await channelCard('studio').waitFor();
    expect(await page.getByRole('button', { name: /Pause|Test|Plan|Preview/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Attention' }).click();
    await page.getByText('Charged today').waitFor();
    const answers = await opened.answers();
    expect(answers).toContain('"charged"');
    expect(answers).not.toMatch(/"(cost|margin|percent|lostCost)"|money_lost/);
  });

  test('axe finds no violation in any state, and Attention says when nothing is left', async () => {
    const { page, served } = opened;
    await opened.signIn('operator', '#/find?q=elsewhere');
    await db().raw(
      `insert into usage_days select cast(now() as date), 'acct_find', '', 'm', 'studio', 'generation', 1, 1, 0, 1,
              0, 0, 0, 0, 7000000, 7000000`,
    );
    await admin(['channels', 'pause', 'studio', '--as', 'Ann', '--why', hostile]);
    const go = (hash: string) => page.goto(`${served.url}/#/${hash}`);
    const found = await opened.violations({
      attention: async () => {
        await go('attention');
        await page.getByText('Ann paused studio').waitFor();
      },
      channels: async () => {
        await go('channels');
        await page.getByRole('region', { name: 'Catalogue' }).getByRole('table').waitFor();
        await page.getByLabel('Body of the create').fill('{"model": "studio-2.0", "prompt": "x"}');
        await page.getByRole('button', { name: 'Plan it' }).click();
        await page.getByText('The create would hold').waitFor();
        await page.getByLabel('The whole changed catalogue').fill(dearerText);
        await page.getByRole('button', { name: 'Preview' }).click();
        await page.getByRole('table', { name: 'Before and after' }).waitFor();
      },
      found: async () => {
        await go('find?q=acct');
        await page.getByRole('table').waitFor();
      },
    });
    expect(found).toEqual([]);
    await page.getByRole('table').waitFor();
    await admin('channels resume studio');
    await db().raw('delete from usage_days');
    await db().raw('update balances set available = 0 where available < 0');
    await go('attention');
    await page.getByText('Nothing needs you.').waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.hosts.size).toBe(1);
  });
});

function gate(): [opened: Promise<void>, open: () => void] {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}
