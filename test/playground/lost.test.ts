// Tests the playground while the service cannot be reached. Also tests which data the page stores
// in the browser, and that the page never shows the data of another account.

import type { Page } from 'playwright-core';
import { until } from '../support/until';
import * as on from './browser';

on.describeInBrowser('the playground and its stored data', (site) => {
  const tasksOf = async (): Promise<{ id: string }[]> =>
    (await site.service.call('GET', '/v1/tasks?limit=100')).json.data;
  const goAway = (page: Page) => page.route('**/v1/**', (route) => route.abort());
  const comeBack = (page: Page) => page.unroute('**/v1/**');

  test('the page repeats a create whose answer is lost, even after a reload, and only one task is created', async () => {
    const before = await tasksOf();
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a lost letter');
    await on.direct(page, { render: 'none' });
    let arrived = 0;
    await page.route('**/v1/videos/generations', async (route) => {
      const reply = await route.fetch();
      if (reply.ok()) arrived += 1;
      await route.abort();
    });
    await on.createButton(page).click();
    await page.getByText('The same request is sent again').waitFor();
    await page.reload();
    await page.getByText('The same request is sent again').waitFor();
    await page.unroute('**/v1/videos/generations');
    const id = await on.createdId(page);
    expect(arrived).toBeGreaterThan(1);
    const after = await tasksOf();
    expect(after).toHaveLength(before.length + 1);
    expect(after.map((task) => task.id)).toContain(id);
  });

  test('"Stop trying" sends no create, and says that a task may exist', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a letter given up');
    const keys: (string | undefined)[] = [];
    await page.route('**/v1/videos/generations', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      await route.abort();
    });
    await on.createButton(page).click();
    await page.getByRole('button', { name: 'Stop trying' }).click();
    await page.getByText('A task may have been made.').waitFor();
    await on.createButton(page).waitFor();
    expect(new Set(keys).size).toBe(1);
  });

  test('a create that the user left and came back to shows its one task', async () => {
    const before = await tasksOf();
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a slow letter');
    await on.direct(page, { render: 'none' });
    let arrived = 0;
    const held: (() => void)[] = [];
    await page.route('**/v1/videos/generations', async (route) => {
      arrived += 1;
      await new Promise<void>((go) => held.push(go));
      await route.continue();
    });
    await on.createButton(page).click();
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.getByRole('link', { name: 'Create', exact: true }).click();
    await until('both calls have arrived', () => arrived === 2);
    // The answer to the first call removes the stored attempt before the second one is answered.
    held[0]?.();
    await on.untilTrue(page, `!JSON.stringify(sessionStorage).includes('attempt')`);
    held[1]?.();
    await on.createdId(page);
    expect(await tasksOf()).toHaveLength(before.length + 1);
  });

  test('the page works in a browser that stores nothing', async () => {
    const { page, complaints } = await on.visit(site);
    await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', {
      get() { throw new DOMException('Access is denied', 'SecurityError'); } })`);
    await page.reload();
    await on.signIn(page, site.service.apiKey);
    await on.promptOf(page).fill('a letter without memory');
    await on.direct(page, { render: 'none' });
    await on.create(page);
    expect(complaints).toEqual([]);
    // The script cannot be taken away, so the next test gets another page.
    await page.close();
    delete site.page;
  });

  test('the page continues without a reload when the service answers again', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a light that fails');
    await on.direct(page, { render: 'none', queue_s: 15 });
    await on.create(page);
    await page.locator('[data-step=submitted]:not([data-state=ahead])').waitFor();
    await goAway(page);
    await page.getByText('Out of touch with the service').waitFor();
    await comeBack(page);
    await on.untilEnd(page, 'done');
    expect(await page.getByText('Out of touch with the service').count()).toBe(0);
  });

  test('the page keeps the API key only in session storage and deletes it at sign-out', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('my secret plan');
    await on.untilTrue(page, `JSON.stringify(sessionStorage).includes('my secret plan')`);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain(site.service.apiKey);
    const elsewhere = 'JSON.stringify(localStorage) + document.cookie + location.href';
    expect(await page.evaluate(elsewhere)).not.toContain(site.service.apiKey);
    await page.reload();
    await page.locator('[data-test=hold]').waitFor();
    expect(await on.promptOf(page).inputValue()).toBe('my secret plan');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('after a sign-in with another key, the page shows nothing of the previous account', async () => {
    const stranger = await site.service.anAccount();
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('only mine');
    await on.direct(page, { render: 'none' });
    const id = await on.create(page);
    await page.goto(`${site.service.url}/#/tasks`);
    await page.locator(`a[href="#/tasks/${id}"]`, { hasText: 'only mine' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await on.signIn(page, stranger.apiKey);
    expect(await on.promptOf(page).inputValue()).toBe('');
    await page.goto(`${site.service.url}/#/tasks`);
    await page.getByText('Nothing here yet.').waitFor();
    await page.goto(`${site.service.url}/#/tasks/${id}`);
    await page.getByText('There is no such task.').waitFor();
    expect(await page.content()).not.toContain('only mine');
  });

  test('the page refuses a wrong key and signs the user out when the key becomes invalid', async () => {
    const { page } = await on.visit(site);
    await page.getByLabel('API key').fill('vk_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key is not valid. Check that it was copied whole').waitFor();
    await on.signIn(page, site.service.apiKey);
    await page.evaluate(`sessionStorage.setItem('playground.key', '"vk_revoked"')`);
    await page.reload();
    await page.getByText('This key is not valid any more.').waitFor();
  });
});
