// Tests the page of the console with a real browser: sign-in, the list of tasks, one task with why it
// waits, and the acts that ask why. axe checks the views in both themes and at two widths.

import { adminWith } from '../support/admin';
import { violationsOf } from '../support/axe';
import { anAccountWith, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { connectTemporal } from '../support/temporal';
import { until } from '../support/until';
import { type ConsoleInBrowser, describeInBrowser, openConsole } from './in-browser';

describeInBrowser('the console in a browser', () => {
  let opened: ConsoleInBrowser;
  let served: ConsoleInBrowser['served'];
  let page: ConsoleInBrowser['page'];
  let temporal: Awaited<ReturnType<typeof connectTemporal>>;
  let taskId: string;
  const admin = adminWith(() => served.environment);
  const signIn: ConsoleInBrowser['signIn'] = (role, hash) => opened.signIn(role, hash);

  beforeAll(async () => {
    [opened, temporal] = await Promise.all([openConsole(), connectTemporal()]);
    ({ served, page } = opened);
    const { db } = served.database;
    const accountId = await anAccountWith(db, 'acct_1', 100_000_000);
    taskId = aTaskId();
    await openNew(db, anOpening(accountId, taskId, 1_000_000));
    await temporal.client.workflow.start('generateVideo', {
      ...{ taskQueue: 'no-worker', workflowId: taskId, args: [] },
    });
    await db.raw(
      `update jobs set owes = null, due_at = null, state = 'waiting', channels = array['studio'],
                       waiting_since = now() where task_id = ?`,
      [taskId],
    );
    await db.raw(
      `update tasks set model = ?, request = '{"prompt": "<img src=x onerror=alert(1)>\u202e"}'
        where id = ?`,
      ['"><script>alert(1)</script>', taskId],
    );
  });
  afterAll(async () => {
    await opened?.close();
    await temporal?.close();
  });

  test('a link to a filtered list shows the list after the sign-in, and leads to a task that says why it waits', async () => {
    await signIn('operator', '#/tasks?status=submitted&account=acct_1');
    await page.getByRole('link', { name: `…${taskId.slice(-6)}` }).click();
    const waiting = page.getByRole('region', { name: 'Why it is waiting' });
    await waiting.getByText('1 job of 1 customer waits').waitFor();
    expect(await page.locator('[data-test=money]').textContent()).toBe(
      '1.000000 CNY are held until it ends.',
    );
    await page.goBack();
    expect(await page.getByLabel('Status').inputValue()).toBe('submitted');
    await page.reload();
    await page.getByRole('link', { name: `…${taskId.slice(-6)}` }).waitFor();
    expect(page.url()).toContain('account=acct_1');
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No task has these filters.').waitFor();
  });

  test('content is shown as text after a reason, and is gone after the view was left', async () => {
    await signIn('operator', `#/tasks/${taskId}`);
    await page.getByRole('button', { name: 'Show content' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Show content' }).click();
    await dialog.getByText('Say why; it goes to the log of operators.').waitFor();
    await dialog.getByLabel('Why').fill('case 7');
    await dialog.getByLabel('Why').press('Enter');
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await page.locator('pre').textContent()).toContain(
      String.raw`{
  "prompt": "<img src=x onerror=alert(1)>\u202e"`,
    );
    const { json } = await admin('log --limit 1 --json');
    expect(json).toMatchObject([
      { command: `tasks content ${taskId}`, via: 'console', why: 'case 7', who: 'operator' },
    ]);
    await page.getByRole('link', { name: 'Tasks' }).first().click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Show content' }).waitFor();
  });

  test('a viewer sees no button that would be refused, and no cost in any answer', async () => {
    const answers: string[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/admin/v1/')) {
        void response.text().then(
          (text) => answers.push(text),
          () => undefined,
        );
      }
    });
    await signIn('viewer', `#/tasks/${taskId}`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    for (const name of ['Cancel', 'Show content']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    expect(answers.join()).toContain(taskId);
    expect(answers.join()).not.toMatch(/costMicros|onerror/);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('axe finds no violation in the %s theme at %i pixels', async (colorScheme, width) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.context().clearCookies();
    await page.goto('about:blank');
    await page.goto(`${served.url}/#/tasks`);
    await page.getByLabel('Key of an operator').waitFor();
    const found: Record<string, string[]> = { 'sign in': await violationsOf(page) };
    await signIn('operator', '#/tasks');
    await page.getByRole('table').waitFor();
    found.tasks = await violationsOf(page);
    await page.goto(`${served.url}/#/tasks?status=failed`);
    await page.getByText('No task has these filters.').waitFor();
    found.empty = await violationsOf(page);
    await page.goto(`${served.url}/#/tasks/${taskId}`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    found.task = await violationsOf(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor();
    found.dialog = await violationsOf(page);
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(width);
    await page.getByRole('button', { name: 'Back' }).click();
    await page.goto(`${served.url}/#/tasks/task_none`);
    await page.getByText('There is no task task_none').waitFor();
    found.refused = await violationsOf(page);
    const wrong = Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
    expect(wrong).toEqual({});
  });

  test('a task is cancelled with a reason by keyboard, a disabled operator is out, and nothing complained', async () => {
    await signIn('operator', `#/tasks/${taskId}`);
    await page.getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.keyboard.type('asked by phone');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const { json } = await admin('log --limit 1 --json');
    expect(json).toMatchObject([{ command: `tasks cancel ${taskId}`, why: 'asked by phone' }]);
    await admin('operators disable operator');
    await page.getByLabel('Key of an operator').waitFor();
    expect(page.url()).toContain(taskId);
    expect(opened.complaints).toEqual([]);
    await until('only the console was asked', () => opened.hosts.size === 1);
  });
});
