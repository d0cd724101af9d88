// Tests the page of the playground if a task is refused, fails or is cancelled. Also tests the list
// of callback attempts.

import type { Page } from 'playwright-core';
import * as on from './browser';

on.describeInBrowser('the playground with unsuccessful tasks', (site) => {
  const faultOf = (page: Page, name: string) =>
    page.locator('.field', { has: page.locator(`[name="${name}"]`) }).locator('.fault');

  /** Expects these fields to show the lines with which the API refuses the same request. */
  async function shows(page: Page, seed: number, names: readonly string[]): Promise<void> {
    const { json } = await site.service.create({
      model: 'studio-2.0',
      prompt: 'a boat --dur 15',
      input_type: 'reference',
      images: ['http://example.com/x.png'],
      metadata: { seed },
    });
    const lines: string[] = json.error.message.split('\n');
    expect(lines).toHaveLength(names.length);
    for (const [index, name] of names.entries()) {
      expect(await faultOf(page, name).textContent()).toBe(lines[index]);
    }
  }

  test('each error is shown at its field with the message of the API, and the first field with an error has the focus', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await page.getByRole('radio', { name: 'Reference' }).check({ force: true });
    await page.locator('input[name=images]').fill('http://example.com/x.png');
    await page.locator('input[name=images]').press('Enter');
    await on.promptOf(page).fill('a boat --dur 15');
    await on.openMore(page);
    await page.locator('[name="metadata.seed"]').fill('-7');
    await on.createButton(page).click();
    await faultOf(page, 'metadata.seed').waitFor();
    await shows(page, -7, ['prompt', 'images', 'metadata.seed']);

    await page.locator('[name="metadata.seed"]').fill('7');
    await on.createButton(page).click();
    await faultOf(page, 'metadata.seed').waitFor({ state: 'detached' });
    await faultOf(page, 'prompt').waitFor();
    await shows(page, 7, ['prompt', 'images']);
    expect(await page.evaluate('document.activeElement.name')).toBe('prompt');

    await on.promptOf(page).fill('a boat');
    await page.getByRole('button', { name: /^Remove/ }).click();
    await page.getByRole('radio', { name: 'Text', exact: true }).check({ force: true });
    await page.locator('.fault').first().waitFor({ state: 'detached' });
  });

  test('the page of a failed task shows the error and a charge of 0.00', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a storm');
    await on.direct(page, { end: 'failed', code: 'OutputVideoSensitiveContentDetected' });
    const id = await on.create(page);
    await on.untilEnd(page, 'failed');
    const { json } = await site.service.call('GET', `/v1/videos/generations/${id}`);
    await page.getByRole('alert').getByText(json.error.message).waitFor();
    expect(await page.locator('[data-test=charged]').textContent()).toBe('0.00');
  });

  test('the button "Cancel task" cancels the task, and the page shows the cancellation', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a long night');
    await on.direct(page, { render: 'none', queue_s: 600 });
    const id = await on.create(page);
    await page.locator('[data-test=deadline]').waitFor();
    await page.getByRole('button', { name: 'Cancel task' }).click();
    await on.untilEnd(page, 'failed');
    const { json } = await site.service.call('GET', `/v1/videos/generations/${id}`);
    expect(json.error.message).toContain('cancelled by the caller');
    await page.getByText('Cancelled', { exact: true }).waitFor();
  });

  test('the page lists every attempt of a callback', async () => {
    const answers = [500, 204];
    site.sink.answer = (_, response) => void response.writeHead(answers.shift() ?? 204).end();
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('tell me');
    await on.direct(page, { render: 'none' });
    await page.locator('[name="metadata.callback_url"]').fill(site.sink.url);
    await on.create(page);
    const callback = page.getByRole('region', { name: 'Callback' });
    await callback.getByText('500', { exact: true }).waitFor();
    await callback.getByText('204', { exact: true }).waitFor();
    await callback.getByText('delivered', { exact: true }).waitFor();
  });
});
