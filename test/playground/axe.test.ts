// Checks the accessibility of the playground's pages with axe, in the light and in the dark theme.

import type { Page, Route } from 'playwright-core';
import { ofColours, violationsOf } from '../support/axe';
import { beginnings } from '../support/files';
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

describeInBrowser('the accessibility of the playground', (site: Site) => {
  test.each(['light', 'dark'] as const)(
    'axe finds no violation on any page in the %s theme',
    async (colorScheme) => {
      const rules = colorScheme === 'dark' ? ofColours : undefined;
      const key = (await site.service.anAccount()).apiKey;
      const signedOut = await visit(site, undefined, { colorScheme });
      const found: Record<string, string[]> = {
        'sign in': await violationsOf(signedOut.page, rules),
      };

      const { page } = await visit(site, key, { colorScheme });
      found.create = await violationsOf(page, rules);
      await promptOf(page).fill('a lighthouse at dusk');
      await direct(page, { render: 'none' });
      found['create, filled'] = await violationsOf(page, rules);
      const id = await create(page);
      await untilRead(page);
      found['a task'] = await violationsOf(page, rules);
      await untilEnd(page, 'done');
      found['a finished task'] = await violationsOf(page, rules);
      await page.goto(`${site.service.url}/#/create`);
      await page.getByRole('radio', { name: 'First & last frame' }).check({ force: true });
      const buffer = beginnings['image/png'] as Buffer;
      const file = { name: 'boat.png', mimeType: 'image/png', buffer };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.locator('.chosen', { hasText: 'boat.png' }).waitFor();
      found['create, with a file'] = await violationsOf(page, rules);
      for (const name of ['tasks', 'library', 'account', 'nothing']) {
        await page.goto(`${site.service.url}/#/${name}`);
        await untilRead(page);
        found[name] = await violationsOf(page, rules);
      }
      expect(id).toMatch(/^task_/);
      const wrong = Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
      expect(wrong).toEqual({});
    },
  );

  /** The pages that read what they show by themselves, with what they say if there is nothing. */
  const pages: Readonly<Record<string, readonly string[]>> = {
    tasks: ['Nothing here yet.'],
    library: ['No task has finished yet.', 'No file yet.'],
    account: ['No money has moved yet.'],
    'account/usage': ['No task ended in these days.'],
    'account/months': ['Opening balance'],
    'account/webhooks': ['No webhook yet.', 'None.'],
    'account/alerts': ['Nothing yet.'],
    'account/keys': ['this key'],
  };
  const refusal = { error: { code: 'invalid_value', message: 'This is refused.', param: '' } };
  const again =
    'The service cannot be reached. Your connection or the service is down. It is tried';
  /** How calls are answered, and what each page then says. */
  const states: Readonly<
    Record<string, readonly [answer: (route: Route) => unknown, said: string]>
  > = {
    waits: [() => undefined, 'Loading…'],
    'is refused': [(route) => route.fulfill({ status: 403, json: refusal }), 'This is refused.'],
    'is not answered': [(route) => route.abort(), again],
  };

  /** What a page says of its state has the same colours on each page. */
  async function inTheDark(page: Page): Promise<readonly string[]> {
    await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'dark' });
    const found = await violationsOf(page, ofColours);
    await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
    return found;
  }

  test('each page says that it waits, is empty, is refused or is not answered, and axe finds no violation', async () => {
    const { page, complaints } = await visit(site, (await site.service.anAccount(0)).apiKey);
    const found: Record<string, readonly string[]> = {};
    const shows = async (name: string, state: string, texts: readonly string[]) => {
      await page.goto(`${site.service.url}/#/${name}`);
      await page.locator(`a[aria-current=page][href="#/${name}"]`).first().waitFor();
      for (const text of texts) await page.locator('main').getByText(text).first().waitFor();
      const dark = name === 'library' ? await inTheDark(page) : [];
      found[`${name} ${state}`] = [...(await violationsOf(page)), ...dark];
    };
    for (const [name, texts] of Object.entries(pages)) await shows(name, 'is empty', texts);
    let answer = (route: Route): unknown => route.continue();
    await page.route(/\/v1\/(?!(account|models)$)/, (route) => answer(route));
    for (const [state, [how, said]] of Object.entries(states)) {
      answer = how;
      for (const name of Object.keys(pages)) await shows(name, state, [said]);
    }
    // A limit is no refusal: the call is repeated.
    answer = (route) => route.fulfill({ status: 429, json: refusal });
    await shows('tasks', 'is limited', ['This is refused. It is tried again by itself.']);
    const wrong = Object.entries(found).filter(([, list]) => list.length > 0);
    expect(Object.fromEntries(wrong)).toEqual({});
    expect(complaints).toEqual([]);
  });
});
