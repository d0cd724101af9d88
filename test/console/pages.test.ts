// Tests the page of the console with a real browser: sign-in, the list of tasks, one task with why it
// waits, and the acts that ask why. axe checks the views in both themes and at two widths.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKey } from '../../src/accounts/keys.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { adminWith } from '../support/admin';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { type ConsoleInBrowser, describeInBrowser, openConsole } from './in-browser';

describeInBrowser('the console in a browser', () => {
  let opened: ConsoleInBrowser;
  let served: ConsoleInBrowser['served'];
  let page: ConsoleInBrowser['page'];
  let taskId: string;
  const admin = adminWith(() => served.environment);
  const signIn: ConsoleInBrowser['signIn'] = (role, hash) => opened.signIn(role, hash);

  beforeAll(async () => {
    opened = await openConsole();
    ({ served, page } = opened);
    const { db } = served.database;
    const accountId = await anAccountWith(db, 'acct_1', 100_000_000);
    taskId = aTaskId();
    await db('accounts').where({ id: accountId }).update({ name: 'First & Best' });
    const { keyId } = await createKey(db, { accountId, name: 'nightly & batch' });
    await openNew(db, anOpening(accountId, taskId, 1_000_000));
    await db('tasks').where({ id: taskId }).update({ key_id: keyId });
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
  afterAll(() => opened?.close());

  test('a link to a filtered list shows the list after the sign-in, and leads to a task that says why it waits', async () => {
    await signIn('operator', '#/tasks?status=submitted&account=acct_1');
    await page.getByRole('link', { name: `…${taskId.slice(-6)}` }).click();
    const waiting = page.getByRole('region', { name: 'Why it is waiting' });
    await waiting.getByText('1 job of 1 customer waits').waitFor();
    expect(await page.locator('[data-test=money]').textContent()).toBe(
      '1.000000 CNY are held until it ends.',
    );
    const hold = page.getByRole('table', { name: 'Its hold, line by line' });
    expect(await hold.locator('td').allTextContents()).toEqual([
      ...['Generation', '0.000001', '1M tokens', '1.00', '1.000000'],
    ]);
    await page.getByText('By the prices for everybody.').waitFor();
    const customer = page.getByRole('link', { name: 'First & Best' });
    expect(await customer.getAttribute('href')).toBe('#/customers/acct_1');
    const key = page.getByRole('link', { name: 'nightly & batch' });
    expect(await key.getAttribute('href')).toBe('#/customers/acct_1?tab=keys');
    const { width = 0 } =
      (await page.getByRole('button', { name: 'Show content' }).boundingBox()) ?? {};
    expect(width).toBeLessThan(300);
    await page.goBack();
    expect(await page.getByLabel('Status').inputValue()).toBe('submitted');
    await page.reload();
    await page.getByRole('link', { name: `…${taskId.slice(-6)}` }).waitFor();
    expect(page.url()).toContain('account=acct_1');
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No task has these filters.').waitFor();
  });

  test('a time says that it is in UTC, its tooltip how far it is, and so does a deadline', async () => {
    await served.database
      .db('tasks')
      .where({ id: taskId })
      .update({ deadline_at: new Date(Date.now() + 28.5 * 3_600_000) });
    await signIn('viewer', `#/tasks/${taskId}`);
    await page.locator('dd', { hasText: '(in 1 d 4 h)' }).waitFor();
    const times = page.locator('main time');
    const texts = await times.allTextContents();
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.filter((text) => !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/.test(text))).toEqual([]);
    expect(await times.first().getAttribute('title')).toMatch(/^\d+ \w+ \d{4}.*, .* ago$/);
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
    await signIn('viewer', `#/tasks/${taskId}`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    for (const name of ['Cancel', 'Show content']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    const answers = await opened.answers();
    expect(answers).toContain(taskId);
    expect(answers).not.toMatch(/costMicros|priceList|unit_price|onerror/);
  });

  test('axe finds no violation in any state', async () => {
    const timeline = page.getByRole('region', { name: 'Timeline' });
    const found = await opened.violations({
      'signed out': async () => {
        await page.context().clearCookies();
        await opened.open('#/tasks', page.getByLabel('Key of an operator'));
      },
      tasks: async () => {
        await signIn('operator', '#/tasks');
        await page.getByRole('table').waitFor();
      },
      task: () => opened.go(`#/tasks/${taskId}`, timeline),
      dialog: async () => {
        await opened.go(`#/tasks/${taskId}`, timeline);
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('dialog').waitFor();
      },
      refused: () => opened.go('#/tasks/task_none', page.getByText('There is no task task_none')),
    });
    expect(found).toEqual([]);
  });

  test('a disabled operator is out, and nothing complained', async () => {
    await signIn('operator', `#/tasks/${taskId}`);
    await admin('operators disable operator');
    await opened.passes(5_000);
    await page.getByLabel('Key of an operator').waitFor();
    expect(page.url()).toContain(taskId);
    expect(opened.complaints).toEqual([]);
    expect(opened.hosts.size).toBe(1);
  });

  test('a result is shown with its last frame, or why it is gone, or that it was not loaded', async () => {
    const { db } = served.database;
    const ended = aTaskId();
    await openNew(db, anOpening('acct_1', ended, 1_000));
    await closeTask(db, aClosing(ended, 1_000, 1_000));
    const show = async (video: object) => {
      const object = JSON.stringify([video]);
      await db.raw(
        `update tasks set object = jsonb_set(object::jsonb, '{data}', cast(? as jsonb)) where id = ?`,
        [object, ended],
      );
      await opened.open(`#/tasks/${ended}`, page.getByRole('button', { name: 'Show content' }));
      await page.getByRole('button', { name: 'Show content' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why').fill('case 8');
      await dialog.getByLabel('Why').press('Enter');
      await dialog.waitFor({ state: 'hidden' });
    };
    await signIn('owner', '#/tasks');
    await show({ url_gone_reason: 'expired' });
    await page.getByText('The video is not kept any more: its time is over.').waitFor();
    // The policy of the page allows files of PUBLIC_URL.
    const files = 'http://localhost:8080/files';
    await show({ url: `${files}/a.mp4`, last_frame_url: `${files}/b.png` });
    expect(await page.getByAltText('The last frame').getAttribute('src')).toBe(`${files}/b.png`);
    await page.evaluate(`document.querySelector('video').play().catch(() => undefined)`);
    await page.getByText('The video cannot be loaded.').waitFor();
    expect(await page.getByRole('link', { name: `${files}/a.mp4` }).count()).toBe(1);
  });

  test('a page of another port or host of this machine cannot act for an operator who is signed in', async () => {
    await signIn('owner', '#/tasks');
    const log = (await admin('log --json')).json;
    const forgeries = async () =>
      Number(/refusals_total\{code="cross_site".*\} (\d+)/.exec(await served.metrics())?.[1]);
    const before = await forgeries();
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(),
    );
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    const credit = { amount: '5', reference: 'forged', reason: 'x', why: 'y' };
    const to = JSON.stringify(`${served.url}/admin/v1/accounts/acct_1/credits`);
    const sent = `method: 'POST', credentials: 'include', body: '${JSON.stringify(credit)}'`;
    // The cookie of an operator is sent to each port of its host.
    for (const host of ['localhost', '127.0.0.1']) {
      const json = `headers: { 'content-type': 'application/json' }`;
      for (const how of [`mode: 'no-cors'`, json]) {
        await page.goto(`http://${host}:${port}/`);
        await page.evaluate(`fetch(${to}, { ${sent}, ${how} }).catch(() => null).then(() => null)`);
      }
      await page.setContent(`<form method="post" enctype="text/plain" action=${to}></form>`);
      await page.evaluate('document.forms[0].submit()');
      await page.waitForURL(/credits$/);
    }
    server.close();
    // A call from another host has no cookie, and one with JSON is not sent.
    expect((await forgeries()) - before).toBe(2);
    expect((await admin('log --json')).json).toEqual(log);
  });

  test('no script of the page can read its cookie, or ask another host', async () => {
    await signIn('viewer', '#/tasks');
    expect(await page.evaluate('document.cookie')).toBe('');
    const server = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, resolve));
    let asked = 0;
    server.on('connection', () => {
      asked += 1;
    });
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    for (const [directive, act] of [
      ['img-src', 'new Image().src = to'],
      ['media-src', 'new Audio(to).load()'],
      ['connect-src', 'fetch(to).catch(() => null)'],
      [
        'script-src-elem',
        `document.head.append(Object.assign(document.createElement('script'), { src: to }))`,
      ],
    ]) {
      const refused = page.evaluate(`new Promise((done) => {
        const to = '${to}${directive}';
        addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), { once: true });
        ${act};
      })`);
      expect(await refused).toBe(directive);
    }
    expect(asked).toBe(0);
    server.close();
  });
});
