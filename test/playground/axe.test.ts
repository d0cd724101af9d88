// Checks the accessibility of the playground's pages with axe, in the light and in the dark theme.

import { violationsOf } from '../support/axe';
import { beginnings } from '../support/files';
import { create, describeInBrowser, direct, promptOf, type Site, untilEnd, visit } from './browser';

describeInBrowser('the accessibility of the playground', (site: Site) => {
  test.each(['light', 'dark'] as const)(
    'axe finds no violation on any page in the %s theme',
    async (colorScheme) => {
      const key = (await site.service.anAccount()).apiKey;
      const signedOut = await visit(site, undefined, { colorScheme });
      const found: Record<string, string[]> = { 'sign in': await violationsOf(signedOut.page) };

      const { page } = await visit(site, key, { colorScheme });
      found.create = await violationsOf(page);
      await promptOf(page).fill('a lighthouse at dusk');
      await direct(page, { render: 'none' });
      found['create, filled'] = await violationsOf(page);
      const id = await create(page);
      found['a task'] = await violationsOf(page);
      await untilEnd(page, 'done');
      found['a finished task'] = await violationsOf(page);
      await page.goto(`${site.service.url}/#/create`);
      await page.getByRole('radio', { name: 'First & last frame' }).check({ force: true });
      const buffer = beginnings['image/png'] as Buffer;
      const file = { name: 'boat.png', mimeType: 'image/png', buffer };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.locator('.chosen', { hasText: 'boat.png' }).waitFor();
      found['create, with a file'] = await violationsOf(page);
      for (const name of ['tasks', 'library', 'account', 'nothing']) {
        await page.goto(`${site.service.url}/#/${name}`);
        await page.waitForLoadState('networkidle');
        found[name] = await violationsOf(page);
      }
      expect(id).toMatch(/^task_/);
      const wrong = Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
      expect(wrong).toEqual({});
    },
  );
});
