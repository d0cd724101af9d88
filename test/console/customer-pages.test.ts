// Tests the pages Customers, Customer and Log with a real browser: money is moved once and by keyboard,
// secrets are shown once, filters are in the address, and a viewer sees nothing that it may not do.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { parse, stringify } from 'yaml';
import { makeOwnKey } from '../../src/accounts/own-keys.rows';
import { addRefusals } from '../../src/accounts/refusals.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { adminWith } from '../support/admin';
import { aClosing, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { catalogueText } from '../support/catalogue';
import type { Answered } from '../support/console';
import { until } from '../support/until';
import { aWebhook } from '../support/webhook-worker';
import { type ConsoleInBrowser, describeInBrowser, openConsole } from './in-browser';

const nasty = '"><img src=x onerror=alert(1)>=1+2\u202etxt';

describeInBrowser('the pages of customers', () => {
  let folder: string;
  let site: ConsoleInBrowser;
  let accountId: string;
  let lateTask: string;
  let away: Promise<Answered>;
  const admin = adminWith(() => site.served.environment);
  const page = () => site.page;
  const button = (name: string) => page().getByRole('button', { name, exact: true });
  const dialog = () => page().getByRole('dialog');
  const section = (name: string) => page().getByRole('region', { name, exact: true });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'video-prices-'));
    const file = parse(catalogueText, { merge: true }) as object;
    const listed = { ...file, priceLists: { partner: { factor: 0.8 } } };
    writeFileSync(join(folder, 'catalogue.yaml'), stringify(listed));
    site = await openConsole({ CATALOGUE_FILE: join(folder, 'catalogue.yaml') });
    const { database } = site.served;
    const name = `${nasty} Advertising and Film Production Company Limited`;
    const made = ['accounts', 'create', '--name', name, '--credit', '100', '--json'];
    accountId = (await admin(made)).json.accountId;
    await admin(['accounts', 'create', '--name', 'Quiet', '--no-key']);
    for (const charge of [1_500_000, null, 250_000]) {
      const taskId = aTaskId();
      await openNew(database.db, anOpening(accountId, taskId, 2_000_000));
      await closeTask(database.db, aClosing(taskId, 2_000_000, charge));
    }
    await openNew(database.db, anOpening(accountId, aTaskId(), 80_000_000));
    await admin(`budgets set --account ${accountId} --period month --limit 100`);
    await admin(['keys', 'create', '--account', accountId, '--name', nasty]);
    const webhookId = await aWebhook(database.db, accountId, 'https://hooks.example.com/in');
    // No worker runs here. The answer says so after twenty seconds.
    away = site.served.as('operator', 'POST', `/webhooks/${webhookId}/test`);
    lateTask = await aFinalTask(database, 'https://hooks.example.com/in', { accountId });
    await database.db('callbacks').where({ task_id: lateTask }).update({ state: 'exhausted' });
    await database.db('callback_attempts').insert({
      ...{ task_id: lateTask, delivery: 1, attempt: 1, at: new Date(), status: 500 },
      ...{ latency_ms: 12, error: 'HTTP 500', reply: nasty },
    });
  });
  afterAll(async () => {
    await site?.close();
    rmSync(folder, { recursive: true });
  });

  test('a customer is found and credited by keyboard, once however often Enter is pressed', async () => {
    await site.signIn('owner', '#/tasks');
    await page().getByRole('table').waitFor();
    await page().keyboard.press('g');
    await page().keyboard.press('c');
    await page().getByRole('heading', { name: 'Customers' }).waitFor();
    await page().getByLabel('Name or id').focus();
    await page().keyboard.type('onerror');
    await page().keyboard.press('Enter');
    await page().waitForURL(/find=onerror/);
    await until(
      'one customer is left',
      async () => (await page().locator('tbody tr').count()) === 1,
    );
    await page().getByLabel('Name or id').blur();
    await page().keyboard.press('j');
    await page().keyboard.press('Enter');
    await button('Credit').press('Enter');
    await dialog().getByLabel('Amount').waitFor();
    const reference = await dialog().getByLabel('Reference').inputValue();
    await page().keyboard.type('5.00');
    for (const text of ['', 'top-up', 'paid by transfer']) {
      await page().keyboard.press('Tab');
      await page().keyboard.type(text);
    }
    await page().keyboard.press('Enter');
    await dialog().getByText('is added to').waitFor();
    expect(await dialog().locator('[data-test=confirm]').textContent()).toMatch(
      /5\.000000 CNY is added to .*onerror.*becomes\s+\d+\.\d{6} CNY/s,
    );
    // The answer waits until Enter was pressed twice.
    let answer: () => void = () => undefined;
    const pressed = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page().route('**/credits', async (route) => {
      await pressed;
      await route.continue();
    });
    await page().keyboard.press('Tab');
    await page().keyboard.press('Enter');
    await page().keyboard.press('Enter');
    // What is being sent cannot be closed.
    await page().keyboard.press('Escape');
    await page().keyboard.press('Escape');
    expect(await dialog().getByRole('button', { name: 'Back' }).isDisabled()).toBe(true);
    answer();
    await dialog().getByText(`It is recorded as ${reference}`).waitFor();
    await page().keyboard.press('Enter');
    expect(await dialog().isVisible()).toBe(true);
    await page().keyboard.press('Escape');
    await dialog().waitFor({ state: 'hidden' });
    await page().unroute('**/credits');
    const { json } = await admin(`log --account ${accountId} --who owner --json`);
    const credits = json.filter(({ command }: { command: string }) => /credit/.test(command));
    expect(credits).toMatchObject([{ via: 'console', why: 'paid by transfer' }]);
    await page().getByRole('link', { name: 'Statement' }).press('Enter');
    const row = page().getByRole('row').filter({ hasText: 'top-up' });
    await row.getByText('Credit').waitFor();
    expect(await row.count()).toBe(1);
  });

  test('a double click on a credit moves the money once', async () => {
    await site.signIn('owner', `#/customers/${accountId}`);
    await button('Credit').click();
    await dialog().getByLabel('Amount').fill('6');
    await dialog().getByLabel('Reason').fill('double click');
    await dialog().getByLabel('Why').fill('test');
    await dialog().getByRole('button', { name: 'Next' }).click();
    await dialog().getByRole('button', { name: 'Credit' }).dblclick();
    await dialog().getByText('It is recorded as').waitFor();
    const { json } = await admin(`log --account ${accountId} --json`);
    expect(json.filter(({ command }: { command: string }) => /click/.test(command))).toHaveLength(
      1,
    );
  });

  test('a form whose answer was lost is closed, and opened after a reload, moves the money once', async () => {
    await site.signIn('owner', `#/customers/${accountId}`);
    const available = async () => (await admin(`accounts show ${accountId} --json`)).json.available;
    const before = Number(await available());
    await button('Credit').click();
    await dialog().getByLabel('Amount').fill('7');
    const reference = await dialog().getByLabel('Reference').inputValue();
    await dialog().getByLabel('Reason').fill('lost once');
    await dialog().getByLabel('Why').fill('test');
    await dialog().getByRole('button', { name: 'Next' }).click();
    await page().route('**/credits', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await dialog().getByRole('button', { name: 'Credit' }).click();
    await dialog().getByText('cannot be reached').waitFor();
    await page().unroute('**/credits');
    const credit = dialog().getByRole('button', { name: 'Credit' });
    const back = dialog().getByRole('button', { name: 'Back' });
    await back.click();
    expect(await dialog().getByLabel('Reference').isEditable()).toBe(false);
    await back.click();
    await site.open(`#/customers/${accountId}`, button('Credit'));
    await button('Credit').click();
    await dialog().getByText('may be recorded').waitFor();
    expect(await dialog().getByLabel('Reference').inputValue()).toBe(reference);
    expect(await dialog().getByLabel('Reference').isEditable()).toBe(false);
    // A refusal says nothing about the first call, so the form keeps its reference.
    await dialog().getByLabel('Amount').fill('8');
    await dialog().getByRole('button', { name: 'Next' }).click();
    await credit.click();
    await dialog().getByRole('alert').waitFor();
    await page().keyboard.press('Escape');
    await button('Credit').click();
    expect(await dialog().getByLabel('Reference').inputValue()).toBe(reference);
    expect(await dialog().getByLabel('Amount').inputValue()).toBe('7');
    await dialog().getByRole('button', { name: 'Next' }).click();
    await credit.dblclick();
    await dialog().getByText('was recorded before').waitFor();
    expect(Number(await available())).toBe(before + 7);
    await page().keyboard.press('Escape');
    await button('Credit').click();
    expect(await dialog().getByLabel('Reference').inputValue()).not.toBe(reference);
  });

  test('secrets of a new customer are shown once, as text', async () => {
    await site.signIn('operator', '#/customers');
    await button('New customer').click();
    await dialog().getByRole('button', { name: 'New customer' }).click();
    await dialog().getByText('Fill this in.').waitFor();
    await dialog().getByLabel('Name').fill('Fresh');
    await dialog().getByRole('button', { name: 'New customer' }).click();
    const secret = dialog().getByText(/^vk_/);
    await secret.waitFor();
    await dialog()
      .getByText(/^whsec_/)
      .waitFor();
    for (const key of ['Enter', 'Escape', 'Escape']) await page().keyboard.press(key);
    expect(await secret.isVisible()).toBe(true);
    await dialog().getByRole('button', { name: 'Close' }).click();
    await page().getByRole('link', { name: 'Fresh' }).waitFor();
    // Not by the dialog: a closed one is not found, also while it still has its form.
    await page().getByText(/^vk_/).waitFor({ state: 'detached' });
    expect(await page().content()).not.toMatch(/vk_\w{10}|whsec_\w{10}/);
  });

  test('a key is made with its limits and revoked with a reason', async () => {
    await site.signIn('operator', `#/customers/${accountId}?tab=keys`);
    await button('New key').click();
    await dialog().getByLabel('What it is for').fill('batch');
    await dialog().getByLabel('Models').fill('no-such-model');
    await dialog().getByLabel('Creates a second').fill('3');
    await dialog().getByLabel('May make and revoke keys').selectOption('yes');
    await dialog().getByRole('button', { name: 'New key' }).click();
    await dialog().getByText('Say why').waitFor();
    await dialog().getByLabel('Why').fill('asked for');
    await dialog().getByRole('button', { name: 'New key' }).click();
    await dialog().getByText('There is no model').waitFor();
    await dialog().getByLabel('Models').fill('');
    await dialog().getByRole('button', { name: 'New key' }).click();
    await dialog().getByText(/^vk_/).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    const row = page().getByRole('row').filter({ hasText: 'batch' });
    await row.getByText('3', { exact: true }).waitFor();
    expect(await row.locator('[data-label="Manages keys"]').textContent()).toBe('yes');
    await row.getByRole('button', { name: 'Revoke' }).click();
    await dialog().getByLabel('Why').fill('leaked');
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await until('the key is revoked', async () => (await row.getByRole('button').count()) === 0);
  });

  const keys = async (): Promise<{ [name: string]: unknown }[]> =>
    (await admin(`keys list --account ${accountId} --json`)).json;

  test('a key is revoked without those it made, which the page shows, and then they are revoked', async () => {
    const make = `keys create --account ${accountId} --name maker --manages-keys --json`;
    const { keyId } = (await admin(make)).json;
    const child = { name: 'made by it', models: null, expiresAt: null };
    await makeOwnKey(site.served.database.db, keyId, child);
    await site.signIn('operator', `#/customers/${accountId}?tab=keys`);
    const row = page().getByRole('row').filter({ hasText: 'maker' });
    const made = page().getByRole('row').filter({ hasText: child.name });
    await made.getByText(keyId).waitFor();
    const revoke = async (label: string, choice?: string) => {
      await row.getByRole('button', { name: label, exact: true }).click();
      if (choice) await dialog().getByLabel('What is revoked').selectOption({ label: choice });
      await dialog().getByLabel('Why').fill('leaked');
      await dialog().getByRole('button', { name: label, exact: true }).click();
    };
    await revoke('Revoke', 'this key only');
    await dialog().getByText('Keys that it made still work: 1.').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await row.getByRole('button', { name: 'Revoke its keys' }).waitFor();
    await made.getByRole('button', { name: 'Revoke' }).waitFor();
    await revoke('Revoke its keys');
    await until(
      'both are revoked',
      async () => (await row.or(made).getByRole('button').count()) === 0,
    );
    const both = (await keys()).filter(({ name }) => [child.name, 'maker'].includes(String(name)));
    expect(both.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });

  test('a key is revoked with those it made', async () => {
    const make = `keys create --account ${accountId} --name parent --manages-keys --json`;
    const { keyId } = (await admin(make)).json;
    await makeOwnKey(site.served.database.db, keyId, { name: 'c', models: null, expiresAt: null });
    await site.signIn('operator', `#/customers/${accountId}?tab=keys`);
    const row = page().getByRole('row').filter({ hasText: 'parent' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await dialog().getByLabel('What is revoked').selectOption('true');
    await dialog().getByLabel('Why').fill('leaked');
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await until('it is revoked', async () => (await row.getByRole('button').count()) === 0);
    const [child] = (await keys()).filter(({ madeBy }) => madeBy === keyId);
    expect(child?.revokedAt).not.toBeNull();
  });

  test('a form keeps what a colleague changed while it was open', async () => {
    const make = `keys create --account ${accountId} --name shared --json`;
    const { keyId } = (await admin(make)).json;
    await site.signIn('operator', `#/customers/${accountId}`);
    await button('Terms').click();
    await dialog().getByLabel('Days for files').fill('9');
    await admin(`accounts terms ${accountId} --queued-max 77`);
    await site.passes(10_000);
    await section('Limits in force').getByText('77', { exact: true }).waitFor();
    await dialog().getByLabel('Why').fill('agreed');
    await dialog().getByRole('button', { name: 'Terms' }).click();
    await section('Limits in force').getByText('9', { exact: true }).waitFor();
    const { json: account } = await admin(`accounts show ${accountId} --json`);
    expect(account).toMatchObject({ queuedMax: 77, filesKeptDays: 9 });

    await site.go(`#/customers/${accountId}?tab=keys`, page().getByRole('table'));
    const row = page().getByRole('row').filter({ hasText: 'shared' });
    await row.getByRole('button', { name: 'Rates and rights' }).click();
    await dialog().getByLabel('Reads a second').fill('41');
    await dialog().getByLabel('May make and revoke keys').selectOption('yes');
    await admin(`keys terms ${keyId} --create-rate 31`);
    await dialog().getByLabel('Why').fill('agreed');
    await dialog().getByRole('button', { name: 'Rates and rights' }).click();
    await row.getByText('41', { exact: true }).waitFor();
    const changed = { createRate: 31, readRate: 41, managesKeys: true };
    expect(await keys()).toContainEqual(expect.objectContaining({ keyId, ...changed }));
  });

  test('a price list is chosen for a customer, and its page shows what it is charged', async () => {
    await site.signIn('operator', `#/customers/${accountId}`);
    const price = async () =>
      (await section('Prices').locator('tbody [data-label=Price]').allTextContents())[0];
    await section('Prices').getByText('Those for everybody.').waitFor();
    expect(await price()).toBe('5.009400 CNY');
    await button('Terms').click();
    await dialog().getByLabel('Price list').selectOption('partner');
    await dialog().getByLabel('Why').fill('agreed');
    await dialog().getByRole('button', { name: 'Terms' }).click();
    await section('Prices').getByText('By the price list partner.').waitFor();
    expect(await price()).toBe('4.007520 CNY');
    await site.signIn('viewer', '#/channels');
    const row = page().getByRole('table', { name: 'Price lists' }).getByRole('row').nth(1);
    await row.waitFor();
    expect(await row.locator('td').allTextContents()).toEqual([
      ...['partner', 'studio-2.0', '5 s 720p 16:9', '4.007520', '0.801504'],
    ]);
    await admin(`accounts terms ${accountId} --price-list none`);
  });

  test('terms and budgets are changed, and the page shows what is in force', async () => {
    await site.signIn('operator', `#/customers/${accountId}`);
    await button('Terms').click();
    await dialog().getByLabel('Running tasks at most').fill('3');
    await dialog().getByLabel('Why').fill('agreed');
    await dialog().getByRole('button', { name: 'Terms' }).click();
    await section('Limits in force').getByText('3', { exact: true }).waitFor();
    await section('Budgets')
      .getByRole('img', { name: /A mark is at 80 %/ })
      .waitFor();
    await button('Set budget').click();
    await dialog().getByLabel('Period').selectOption('day');
    await dialog().getByLabel('Limit').fill('20');
    await dialog().getByLabel('Why').fill('agreed');
    await dialog().getByRole('button', { name: 'Set budget' }).click();
    const daily = section('Budgets').getByRole('listitem').filter({ hasText: 'a day' });
    await daily.getByRole('button', { name: 'Remove' }).click();
    await dialog().getByLabel('Why').fill('a mistake');
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await daily.waitFor({ state: 'detached' });
  });

  test('Attention leads to the callbacks that were given up, and to the open tasks', async () => {
    await site.signIn('viewer', '#/attention');
    const need = page().getByRole('listitem').filter({ hasText: '1 callback was given up' });
    await need.getByRole('link', { name: 'Show' }).click();
    const row = section('Given up')
      .getByRole('row')
      .filter({ hasText: lateTask.slice(-6) });
    await row.getByRole('link', { name: 'Film Production' }).waitFor();
    expect(await button('Send again').count()).toBe(0);
    await page().getByLabel('State').selectOption('pending');
    await section('To be sent').getByText('None waits to be sent.').waitFor();
    await page().goBack();
    await row.waitFor();
    await page().getByRole('link', { name: 'Attention' }).click();
    const card = page().locator('.numbers div').filter({ hasText: 'Open tasks' });
    await card.getByRole('link', { name: '1', exact: true }).click();
    await page().getByRole('table', { name: 'Tasks' }).waitFor();
    expect(await page().locator('tbody tr').count()).toBe(1);
    expect(await page().getByLabel('Status').inputValue()).toBe('open');
  });

  test('the summary of a month adds up, names its zone, and is saved as CSV', async () => {
    await site.signIn('viewer', `#/customers/${accountId}?tab=statement`);
    await page().getByRole('table', { name: 'Statement' }).waitFor();
    const month = new Date().toISOString().slice(0, 7);
    await page().getByLabel('Summary of a month').selectOption(month);
    const summary = section(`Summary of ${month}`);
    await summary.getByText('The month goes on. Months begin at 00:00 UTC.').waitFor();
    const sums = summary.getByRole('table').first();
    expect(await sums.getByRole('row').last().textContent()).toContain('Balance now');
    const amounts = await sums.locator('td.number').allTextContents();
    const micros = amounts.map((text) =>
      Math.round(Number.parseFloat(text.replace(',', '')) * 1e6),
    );
    expect(micros.slice(0, -1).reduce((sum, one) => sum + one)).toBe(micros.at(-1));
    expect(micros[3]).toBeLessThan(0);
    const [download] = await Promise.all([
      page().waitForEvent('download'),
      summary.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`summary-${month}.csv`);
    const { text } = await site.served.as(
      'viewer',
      'GET',
      `/accounts/${accountId}/summary?month=${month}&format=csv`,
    );
    expect(
      text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(',')[1]),
    ).toEqual([
      ...['line', 'opening balance', 'credits', 'corrections'],
      ...['charged', 'closing balance'],
    ]);
  });

  test.each([
    ['America/New_York', -1],
    ['Asia/Shanghai', 1],
  ])('the months are those of the zone of the reports, %s', async (timeZone, sign) => {
    const today = new Date();
    const [year, next] = [today.getUTCFullYear(), today.getUTCMonth() + 1];
    // An hour before and an hour after the next month begins in UTC.
    const monthAt = (hour: number) => new Date(Date.UTC(year, next, 1, hour)).toISOString();
    await site.signIn('viewer', '#/log');
    await page().route('**/admin/v1/me', async (route) => {
      const reply = await route.fetch();
      const { data } = await reply.json();
      await route.fulfill({ response: reply, json: { data: { ...data, timeZone } } });
    });
    await page().clock.setSystemTime(monthAt(-sign));
    await site.open(
      `#/customers/${accountId}?tab=statement`,
      page().getByLabel('Summary of a month'),
    );
    const months = await page()
      .getByLabel('Summary of a month')
      .locator('option')
      .allTextContents();
    // It has not begun in New York, and has begun in Shanghai.
    expect(months[1]).toBe(monthAt(sign).slice(0, 7));
    await page().unroute('**/admin/v1/me');
    await page().clock.setSystemTime(new Date());
  });

  test('callbacks that were given up stand first and are sent again, one or all', async () => {
    await site.signIn('operator', `#/customers/${accountId}?tab=webhooks`);
    await section('Given up')
      .getByRole('link', { name: `…${lateTask.slice(-6)}` })
      .click();
    const attempts = section('Callback').getByRole('table');
    await attempts.getByText('HTTP 500').waitFor();
    expect(await attempts.getByRole('row').last().textContent()).toContain('12');
    await page().goBack();
    await section('Given up').getByRole('button', { name: 'Send all again' }).click();
    await dialog().getByLabel('Why').fill('the receiver was down');
    await dialog().getByRole('button', { name: 'Send all again' }).click();
    await dialog().getByText('Sent again: 1').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await section('To be sent').getByRole('table').waitFor();
    await section('Given up').getByText('No callback was given up.').waitFor();
    const { json } = await admin(`callbacks show ${lateTask} --json`);
    expect(json.deliveries).toBe(2);
  });

  test('reload and back keep the filters, and a link shows the same after the sign-in', async () => {
    await site.signIn('viewer', `#/customers/${accountId}?tab=tasks&status=failed`);
    expect(await page().getByLabel('Status').inputValue()).toBe('failed');
    await until(
      'one task has failed',
      async () => (await page().locator('tbody tr').count()) === 1,
    );
    await page().getByLabel('Error').fill('task_expired');
    await page().getByLabel('Error').press('Enter');
    await page().getByText('No task has these filters.').waitFor();
    const reloaded = new URL(page().url()).hash;
    await site.open(reloaded, page().getByText('No task has these filters.'));
    expect(await page().getByLabel('Error').inputValue()).toBe('task_expired');
    await page().getByLabel('Error').fill('task_error');
    await page().getByLabel('Error').press('Enter');
    await until('the task is found', async () => (await page().locator('tbody tr').count()) === 1);
    await page().goBack();
    await page().getByText('No task has these filters.').waitFor();
    expect(await page().getByLabel('Error').inputValue()).toBe('task_expired');
    await page().goForward();
    await until('the task is back', async () => (await page().locator('tbody tr').count()) === 1);
    expect(await page().getByLabel('Error').inputValue()).toBe('task_error');
  });

  test('a list is taken as CSV by its button', async () => {
    await site.signIn('viewer', '#/customers?find=onerror');
    await page().getByRole('table').waitFor();
    const [download] = await Promise.all([page().waitForEvent('download'), button('CSV').click()]);
    expect(download.suggestedFilename()).toBe('accounts.csv');
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^accountId,name,/);
  });

  test('a list that is not sent as CSV says why, and a list that is refused offers none', async () => {
    await site.signIn('viewer', '#/customers?find=onerror');
    await page().getByRole('table').waitFor();
    const message = '2 lists are being sent as CSV already.';
    const json = { error: { code: 'too_many_exports', message, param: '' } };
    const isCsv = /format=csv/;
    await page().route(isCsv, (route) => route.fulfill({ status: 429, json }), { times: 1 });
    await button('CSV').click();
    await page().getByRole('alert').getByText(message).waitFor();
    await Promise.all([page().waitForEvent('download'), button('CSV').click()]);
    await page().getByRole('alert').waitFor({ state: 'detached' });
    await site.go('#/tasks?label=team%3Da', page().getByText('--account must be given'));
    expect(await button('CSV').count()).toBe(0);
    await site.go('#/tasks', page().getByRole('table'));
    await page().route(isCsv, (route) => route.fulfill({ status: 401, json }), { times: 1 });
    await button('CSV').click();
    await page().getByLabel('Key of an operator').waitFor();
  });

  test('Customers leads to the customer that reaches its limits, and its page says which', async () => {
    const { db } = site.served.database;
    await addRefusals(db, [{ accountId, code: 'rate_limited', calls: 1_234 }]);
    await site.signIn('viewer', '#/customers');
    await page().getByLabel('Refused calls').selectOption('true');
    await page().waitForURL(/refused=true/);
    await until('it is alone', async () => (await page().locator('tbody tr').count()) === 1);
    await page().getByRole('cell', { name: 'about 1,234' }).waitFor();
    await page().getByRole('link', { name: 'Film Production' }).click();
    const row = section('Refused in 7 days').getByRole('row').last();
    await row.getByText('rate_limited').waitFor();
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      ...[expect.stringMatching(/^\d{4}-/), 'rate_limited', '1,234'],
    ]);
  });

  test('a viewer sees no button that would be refused, and no cost and no reply in any answer', async () => {
    await site.signIn('viewer', `#/customers/${accountId}`);
    await section('Last tasks').getByRole('table').waitFor();
    for (const name of ['overview', 'tasks', 'statement', 'keys', 'webhooks', 'log']) {
      await site.go(
        `#/customers/${accountId}?tab=${name}`,
        page().getByRole('link', { name: 'Overview' }),
      );
      await until('the tab is shown', async () => (await page().locator('.boot').count()) === 0);
      const names = await page().getByRole('button').allTextContents();
      const harmless = /^(\s*Cop(y|ied)\s*|\s*Sign out\s*|\s*[☀☾]\s*|Show more|CSV)$/;
      expect([name, names.filter((one) => !harmless.test(one))]).toEqual([name, []]);
    }
    await site.go('#/customers', page().getByRole('table'));
    expect(await button('New customer').count()).toBe(0);
    await site.go('#/log', page().getByRole('table'));
    expect(await section('Operators').count()).toBe(0);
    await site.go(`#/tasks/${lateTask}`, section('Callback').getByRole('table'));
    const answers = await site.answers();
    expect(answers).toContain(lateTask);
    expect(answers).not.toMatch(
      /"(cost|margin|lostCost|costMicros|reply)"|forbidden|hooks\.example\.com\/in/,
    );
  });

  test('an owner adds, renews and disables an operator, and sees who is signed in', async () => {
    await site.signIn('owner', '#/log');
    await section('Open sessions').getByText('owner').first().waitFor();
    await button('New operator').click();
    await dialog().getByLabel('Name').fill('zoe');
    await dialog().getByLabel('Why').fill('new');
    await dialog().getByRole('button', { name: 'New operator' }).click();
    await dialog().getByText(/^vo_/).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    const row = section('Operators').getByRole('row').filter({ hasText: 'zoe' });
    await row.getByRole('button', { name: 'Renew key' }).click();
    await dialog().getByLabel('Why').fill('lost');
    await dialog().getByRole('button', { name: 'Renew key' }).click();
    await dialog().getByText(/^vo_/).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await row.getByRole('button', { name: 'Disable' }).click();
    await dialog().getByLabel('Why').fill('left');
    await dialog().getByRole('button', { name: 'Disable' }).click();
    await until('zoe is disabled', async () => (await row.getByRole('button').count()) === 0);
    await page().getByLabel('Operator', { exact: true }).fill('owner');
    await page().getByLabel('Operator', { exact: true }).press('Enter');
    await page().waitForURL(/who=owner/);
    await page().getByText('operators disable').waitFor();
  });

  test('a console that does not answer leaves what was shown, and recovers by itself', async () => {
    await site.signIn('viewer', '#/log');
    await page().getByRole('table').waitFor();
    const busy = { error: { code: 'unavailable', message: 'This takes long. Ask for less.' } };
    await page().route('**/admin/v1/log?**', (route) => route.fulfill({ status: 503, json: busy }));
    await site.passes(10_000);
    await page().getByText('This takes long. Ask for less. What you see may be old').waitFor();
    await page().unroute('**/admin/v1/log?**');
    await page().route('**/session', (route) => route.abort());
    await button('Sign out').click();
    await page().getByText('You are still signed in.').waitFor();
    await page().unroute('**/session');
    await page().route('**/admin/v1/**', (route) => route.abort());
    await site.passes(60_000);
    await page().getByText('down. What you see may be old').first().waitFor();
    expect(await page().getByRole('table').count()).toBe(1);
    await page().unroute('**/admin/v1/**');
    await site.passes(60_000);
    await page().getByText('down. What you see may be old').first().waitFor({ state: 'hidden' });
    await page().keyboard.press('p');
    await page().getByText('Paused').waitFor();
    await page().keyboard.press('p');
    await page().keyboard.press('?');
    await dialog().getByText('next and previous row').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
  });

  /** A state of a page, which is reached when all of it is shown. */
  const show = (hash: string, ...shown: readonly Locator[]) => ({ hash, shown });
  const tab = (name: string, ...shown: readonly Locator[]) =>
    show(`#/customers/${accountId}?tab=${name}`, ...shown);

  const table = () => page().getByRole('table').first();
  const tableIn = (name: string) => section(name).getByRole('table');
  const states: Readonly<Record<string, () => Readonly<Record<string, ReturnType<typeof show>>>>> =
    {
      'customers and money': () => ({
        customers: show('#/customers', table()),
        refused: show('#/customers/acct_none', page().getByText('There is no account acct_none')),
        overview: tab(
          'overview',
          tableIn('Last tasks'),
          section('Budgets').getByRole('img'),
          tableIn('Usage of 30 days'),
        ),
        credit: tab('overview', button('Credit')),
      }),
      'the tabs of a customer': () => ({
        tasks: tab('tasks', table()),
        'all tasks': show('#/tasks', table()),
        keys: tab('keys', table()),
        statement: tab(
          `statement&month=${new Date().toISOString().slice(0, 7)}`,
          page().getByText('Balance now'),
          page().getByRole('table', { name: 'Statement' }),
        ),
      }),
      'callbacks and acts': () => ({
        callbacks: tab(
          'webhooks',
          tableIn('To be sent'),
          section('Delivered').getByText('None was'),
        ),
        'those of all customers': show('#/callbacks?state=pending', tableIn('To be sent')),
        callback: show(`#/tasks/${lateTask}`, tableIn('Callback')),
        log: tab('log', table()),
        'all acts': show('#/log', tableIn('Operators'), tableIn('Open sessions')),
      }),
    };

  const leadTo =
    (name: string, { hash, shown }: ReturnType<typeof show>) =>
    async () => {
      const [first, ...others] = shown;
      await site.go(hash, first!);
      for (const other of others) await other.waitFor();
      if (name !== 'credit') return;
      await button('Credit').click();
      await dialog().getByRole('button', { name: 'Next' }).click();
      await dialog().getByText('Fill this in.').waitFor();
    };

  test.each(Object.keys(states))(
    'axe finds no violation in %s, and no text from outside is more than text',
    async (name) => {
      const opened: string[] = [];
      page().on('dialog', (shown) => {
        opened.push(shown.message());
        void shown.dismiss();
      });
      await site.signIn('owner', '#/customers');
      const leads = Object.entries(states[name]?.() ?? {}).map(
        ([state, shown]) => [state, leadTo(state, shown)] as const,
      );
      expect(await site.violations(Object.fromEntries(leads))).toEqual([]);
      expect(opened).toEqual([]);
      expect(site.complaints).toEqual([]);
      expect([...site.hosts]).toEqual([new URL(site.served.url).host]);
    },
  );

  test('the test of a webhook needs a worker, and says so', async () => {
    const { status, json } = await away;
    expect([status, json.error.message]).toEqual([503, expect.stringContaining('needs a worker')]);
  });
});
