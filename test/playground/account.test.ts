// The sections of the account: statement, usage, months, webhooks, alerts and keys. Each is checked with
// axe, in a wide and a narrow window, and does what it offers.

import type { Page, Route } from 'playwright-core';
import { createKey } from '../../src/accounts/keys.rows';
import { ofColours, violationsOf } from '../support/axe';
import { call } from '../support/service';
import { until } from '../support/until';
import {
  create,
  describeInBrowser,
  direct,
  promptOf,
  type Site,
  untilEnd,
  untilRead,
  visit,
} from './browser';

const sections = ['', 'usage', 'months', 'webhooks', 'alerts', 'keys'];

describeInBrowser('the account on the page', (site: Site) => {
  let apiKey = '';
  let accountId = '';
  let taskId = '';
  beforeAll(async () => {
    ({ accountId } = await site.service.anAccount());
    const { db } = site.service;
    ({ apiKey } = await createKey(db, { accountId, name: 'desk', managesKeys: true }));
    const { page } = await visit(site, apiKey);
    await promptOf(page).fill('a lighthouse at dusk');
    await direct(page, { render: 'none' });
    taskId = await create(page);
    await untilEnd(page, 'done');
  });

  const open = async (section: string, key = apiKey, looks = {}) => {
    const visited = await visit(site, key, looks);
    await visited.page.goto(`${site.service.url}/#/account/${section}`);
    await visited.page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    return visited;
  };

  test('the statement has one line for the task, with its total, below its day and month', async () => {
    const { page } = await open('');
    const line = page.locator('.lines li', { hasText: taskId.slice(-6) });
    await line.waitFor();
    expect(await line.count()).toBe(1);
    const task = await (
      await fetch(`${site.service.url}/v1/videos/generations/${taskId}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      })
    ).json();
    const charged = (task as { billing: { charged: string } }).billing.charged;
    expect((await line.locator('.amount').textContent())?.trim()).toBe(`-${charged}`);
    expect(await page.locator('.day h3').first().textContent()).toContain(`charged ${charged}`);
    await page.getByRole('radio', { name: 'Every movement' }).check({ force: true });
    await page.locator('.statement tbody tr', { hasText: 'held for a task' }).waitFor();
  });

  test('a webhook is added with its events, its secret is shown, and it is tested and deleted', async () => {
    const { page, complaints } = await open('webhooks');
    await page.getByLabel('Address').fill('https://consumer.example.com/hook');
    await page.getByLabel('The balance is low').check();
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(/^whsec_/).waitFor();
    const card = page.locator('.cards .card');
    await card.getByText('balance.low').waitFor();
    await card.getByRole('button', { name: 'Send a test' }).click();
    await card.getByRole('status').waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await card.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhook yet.').waitFor();
    expect(complaints).toEqual([]);
  });

  test('a callback that was given up is shown with its last error, and is sent again', async () => {
    const { db } = site.service;
    const url = 'https://consumer.example.com/hook';
    await db('callbacks').insert({
      task_id: taskId,
      account_id: accountId,
      url,
      state: 'exhausted',
    });
    const attempt = { delivery: 1, attempt: 10, at: new Date(), status: 503, latency_ms: 9 };
    await db('callback_attempts').insert({ task_id: taskId, ...attempt, error: 'HTTP 503' });
    const { page, complaints } = await open('webhooks');
    const line = page.locator('.lines li', { hasText: taskId.slice(-6) });
    await line.getByText('given up: HTTP 503').waitFor();
    await line.getByRole('button', { name: 'Send again' }).click();
    await line.getByText('It is sent again.').waitFor();
    await until('another delivery', async () => {
      const row = await db('callbacks').where({ task_id: taskId }).first('deliveries');
      return row.deliveries === 2;
    });
    expect(complaints).toEqual([]);
  });

  test('the limit of the balance is set and removed, and a fault stands at its field', async () => {
    const { page } = await open('alerts');
    const field = page.getByLabel(/Say when less/);
    await field.fill('much');
    await page.getByRole('button', { name: 'Set' }).click();
    await page.locator('.fault').waitFor();
    await field.fill('20.00');
    await page.getByRole('button', { name: 'Set' }).click();
    const below = async () =>
      (await site.service.db('accounts').where({ id: accountId }).first('alert_below')).alert_below;
    await until('the limit is stored', async () => (await below()) === 20_000_000);
    // The form is a new one then, and still says it.
    await page.getByRole('button', { name: 'Remove' }).waitFor();
    await page.getByText('Set.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await until('the limit is removed', async () => (await below()) === null);
    await page.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' });
    await page.getByText('No alert about the balance.').waitFor();
  });

  test('a key is made, is shown once, and is revoked; a key that may not offers neither', async () => {
    const { page } = await open('keys');
    await page.getByLabel('Name').fill('batch');
    await page.getByRole('button', { name: 'Make' }).click();
    const made = (await page.getByText(/^vk_/).textContent()) ?? '';
    const card = page.locator('.cards .card', { hasText: 'batch' });
    await card.waitFor();
    const other = await open('keys', made);
    await other.page.getByText('This key cannot make or revoke keys.', { exact: false }).waitFor();
    expect(await other.page.getByRole('button', { name: /Make|Revoke/ }).count()).toBe(0);
    const again = await open('keys');
    again.page.on('dialog', (dialog) => void dialog.accept());
    await again.page
      .locator('.cards .card', { hasText: 'batch' })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await again.page.locator('.cards .badge', { hasText: 'revoked' }).waitFor();
  });

  /** Counts the calls that make something, and answers them when it is told to. */
  async function held(page: Page, path: string) {
    const made: Route[] = [];
    await page.route(path, (route) =>
      route.request().method() === 'POST' ? void made.push(route) : route.continue(),
    );
    return made;
  }

  test('a double click makes one key and one webhook, and so does a click after a quick answer', async () => {
    const { page } = await open('keys');
    const keys = await held(page, '**/v1/account/keys');
    await page.getByLabel('Name').fill('twice');
    const before = await page.locator('.cards .card').count();
    const make = page.getByRole('button', { name: 'Make' });
    const { x, y } = (await make.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.dblclick(x + 9, y + 9);
    await page.getByRole('button', { name: 'Making…' }).waitFor();
    await until('the key is asked for', () => keys.length > 0);
    for (const route of keys) await route.continue();
    await page.getByText(/^vk_/).waitFor();
    await page.mouse.click(x + 9, y + 9);
    await page.locator('.cards .card', { hasText: 'twice' }).waitFor();
    expect([keys.length, await page.locator('.cards .card').count()]).toEqual([1, before + 1]);
    await page.goto(`${site.service.url}/#/account/webhooks`);
    const hooks = await held(page, '**/v1/webhooks');
    await page.getByLabel('Address').fill('https://consumer.example.com/twice');
    await page.getByRole('button', { name: 'Add' }).dblclick();
    await page.getByRole('button', { name: 'Adding…' }).waitFor();
    await until('the webhook is asked for', () => hooks.length > 0);
    for (const route of hooks) await route.continue();
    await page.getByText(/^whsec_/).waitFor();
    await page.locator('.cards .card', { hasText: 'twice' }).waitFor();
    expect(hooks).toHaveLength(1);
  });

  test('a key whose answer was lost stands in the list, and the page says what to do', async () => {
    const { page } = await open('keys');
    await page.route('**/v1/account/keys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.getByLabel('Name').fill('half');
    await page.getByRole('button', { name: 'Make' }).click();
    await page.getByRole('alert').getByText('revoke it and make another').waitFor();
    await page.locator('.cards .card', { hasText: 'half' }).waitFor();
    expect(await page.getByText(/^vk_/).count()).toBe(0);
  });

  test('another tab shows what was sent for a task, as code too, and fills the form with it', async () => {
    const { page } = await visit(site, apiKey);
    await page.goto(`${site.service.url}/#/tasks/${taskId}`);
    await page.locator('.words', { hasText: 'a lighthouse at dusk' }).waitFor();
    await page.getByText('As code').click();
    await page.locator('.codes pre', { hasText: 'a lighthouse at dusk' }).waitFor();
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.locator('[data-test=hold]').waitFor();
    expect(await promptOf(page).inputValue()).toBe('a lighthouse at dusk');
    expect(await page.locator('textarea[name=metadata]').inputValue()).toContain('render');
    await page.getByText(/^The last task took/).waitFor();
  });

  test('the month and the days are those of the time zone of the reports', async () => {
    const { page } = await open('');
    await page.getByText('Times are those of UTC').waitFor();
    const reports = { last_day: '2020-01-31', time_zone: 'Asia/Shanghai' };
    await page.route('**/v1/usage?by=month', (route) => route.fulfill({ json: reports }));
    const asked = await call(site.service.url, apiKey, 'GET', '/v1/account/statement');
    const at = new Date(asked.json.data[0].at * 1000);
    const time = at.toLocaleTimeString('en-GB', { timeZone: 'Asia/Shanghai' });
    await page.goto(`${site.service.url}/#/account/months`);
    await page.getByRole('heading', { name: '2020-01' }).waitFor();
    expect(await page.locator('[name=month]').inputValue()).toBe('2020-01');
    await page.goto(`${site.service.url}/#/account`);
    await page.getByText('Times are those of Asia/Shanghai').waitFor();
    await page.locator('.lines li', { hasText: time }).waitFor();
  });

  test('usage and month are shown and saved as CSV', async () => {
    const { page } = await open('months');
    await page.getByText('The month goes on. Months begin at 00:00 UTC.').waitFor();
    const [opening, credits, corrections, charged, now] = (
      await page.locator('.figures td.number').allTextContents()
    ).map((text) => Number.parseFloat(text.replaceAll(',', '')));
    expect([opening, credits, corrections, charged! < 0]).toEqual([0, 1_000, 0, true]);
    expect(now).toBeCloseTo(1_000 + charged!, 6);
    await page.getByRole('row', { name: 'Balance now' }).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    expect((await saving).suggestedFilename()).toMatch(/^summary-\d{4}-\d\d\.csv$/);
    await page.goto(`${site.service.url}/#/account/usage`);
    await page.locator('.figures tfoot').waitFor();
    await page.locator('.bars svg').waitFor();
  });

  test.each([
    [1280, 'light'],
    [1280, 'dark'],
    [360, 'light'],
    [360, 'dark'],
  ] as const)(
    'axe finds no violation in a window of %d pixels with %s colours, and nothing is wider',
    async (width, colorScheme) => {
      const looks = { viewport: { width, height: 900 }, colorScheme };
      const { page, complaints } = await visit(site, apiKey, looks);
      const rules = colorScheme === 'dark' ? ofColours : undefined;
      const found: Record<string, string[]> = {};
      await page.locator('.compare summary').click();
      found.create = await violationsOf(page, rules);
      for (const section of sections) {
        await page.goto(`${site.service.url}/#/account/${section}`);
        await page.locator('.section').waitFor();
        await untilRead(page);
        if (section === 'usage') await page.locator('.figures tfoot').waitFor();
        found[section] = await violationsOf(page, rules);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect([section, Number(wide) <= width]).toEqual([section, true]);
      }
      const wrong = Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
      expect(wrong).toEqual({});
      expect(complaints).toEqual([]);
    },
  );
});
