// Tests the form of the playground: its options, its price, its messages, its layout, its use with
// the keyboard, and the generated code.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as on from './browser';

const scroll = `document.querySelector('.scroll')`;
const notScrolled = `${scroll}?.scrollWidth <= ${scroll}?.clientWidth`;

on.describeInBrowser('the form of the playground', (site) => {
  test('the form shows the price of the current request', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    const holdOf = async (body: object) => {
      const { json } = await site.service.call('POST', '/v1/videos/quotes', {
        prompt: 'x',
        ...body,
      });
      return Number(json.hold).toFixed(2);
    };
    const shown = (hold: string) =>
      page.locator('.ticket:not(.busy) [data-test=hold]', { hasText: hold }).waitFor();
    await shown(await holdOf({ model: 'studio-2.0' }));
    await page.getByRole('radio', { name: '1080p' }).check({ force: true });
    await shown(await holdOf({ model: 'studio-2.0', resolution: '1080p' }));
    await page.getByRole('switch', { name: /^Super-resolution/ }).check();
    await page.getByRole('radio', { name: '4k' }).check({ force: true });
    const config = { super_resolution_config: { resolution: '4k' } };
    await shown(await holdOf({ model: 'studio-2.0', resolution: '1080p', metadata: config }));
  });

  test('the form offers only the options that the chosen model supports', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await page.getByRole('radio', { name: '1080p' }).check({ force: true });
    await page.getByLabel('Model', { exact: true }).selectOption('studio-1.0');
    await page.getByRole('switch', { name: /^Sound/ }).waitFor({ state: 'detached' });
    expect(await page.getByRole('radio', { name: '1080p' }).count()).toBe(0);
    expect(await page.getByRole('radio', { name: '720p' }).isChecked()).toBe(true);
    expect(await page.getByRole('radio', { name: 'First & last frame' }).count()).toBe(0);
    expect(await page.getByRole('switch', { name: /^Draft/ }).count()).toBe(0);
    await page.getByLabel('Model', { exact: true }).selectOption('studio-1.5-pro');
    await page.getByRole('switch', { name: /^Last frame/ }).check();
    await page.getByRole('switch', { name: /^Draft/ }).check();
    await page.getByText('a draft is always 480p').waitFor();
    expect(await page.getByRole('switch', { name: /^Last frame/ }).count()).toBe(0);
    await page.locator('.ticket:not(.busy) [data-test=hold]').waitFor();
  });

  test('an empty required field shows what to enter, and no create is sent', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/generations')) sent.push(request.method());
    });
    await page.locator('.ticket:not(.busy) [data-test=hold]').waitFor();
    await on.createButton(page).click();
    await page.locator('.field .fault', { hasText: 'Write what the video should show.' }).waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('prompt');
    await on.promptOf(page).fill('a boat');
    await page.locator('.fault').waitFor({ state: 'detached' });
    await page.getByRole('radio', { name: 'Reference' }).check({ force: true });
    await on.createButton(page).click();
    await page
      .locator('[data-kind=image] .fault', { hasText: 'Add an image or a video' })
      .waitFor();
    expect(await page.locator('.fault').count()).toBe(1);
    expect(sent).toEqual([]);
  });

  test('the form explains each input type', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    for (const [name, sentence] of [
      ['Text', 'The prompt alone, without images.'],
      ['First & last frame', 'begins with the first and ends with the last. Up to seven more'],
      ['Reference', 'What the prompt refers to'],
    ] as const) {
      await page.getByRole('radio', { name, exact: true }).check({ force: true });
      await page.locator('.strip', { hasText: 'Made from' }).getByText(sentence).waitFor();
    }
    await page.getByText('Default is studio-2.0 itself.').waitFor();
  });

  test('an amount is shown with the digits that matter, and with all of them in a list with a sum', async () => {
    const { page } = await on.visit(site);
    const amounts = [
      ['9994.990600', '9,994.99', '9,994.990600'],
      ['0.000000', '0.00', '0.000000'],
      ['0.009999', '0.01', '0.009999'],
      ['0.004912', '0.0049', '0.004912'],
      ['-0.000001', '-0.000001', '-0.000001'],
    ] as const;
    for (const [amount, short, exact] of amounts) {
      const shown = await page.evaluate(
        `import('/playground/format.js').then((f) => [f.money('${amount}'), f.exactMoney('${amount}', 'CNY')])`,
      );
      expect([amount, shown]).toEqual([amount, [short, `${exact} CNY`]]);
    }
  });

  test('a field shows no error before the user enters a value or sends the form', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await page.getByRole('radio', { name: 'First & last frame' }).check({ force: true });
    await page.getByText('The price appears when the form is complete.').waitFor();
    expect(await page.locator('.fault').count()).toBe(0);
    const address = page.locator('input[name=images]');
    await address.fill('http://example.com/a.png');
    await address.press('Enter');
    await page.locator('.media .fault', { hasText: /^images\[0\].*$/ }).waitFor();
    await page.getByRole('button', { name: /^Remove/ }).click();
    await address.fill('https://example.com/a.png');
    await address.press('Enter');
    await page.locator('.media .fault').waitFor({ state: 'detached' });
    await on.createButton(page).click();
    await page.locator('.media .fault', { hasText: 'Add the last frame.' }).waitFor();
  });

  test('the task gets the labels that were entered in the form', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a boat');
    await on.direct(page, { render: 'none' });
    const labels = page.locator('textarea[name="metadata.labels"]');
    await labels.fill('order');
    await page.getByText('Each line must be name=value').waitFor();
    expect(await on.createButton(page).isDisabled()).toBe(true);
    await labels.fill('order = 4711\nnote=a=b, c');
    const id = await on.create(page);
    const { json } = await site.service.call('GET', `/v1/videos/generations/${id}`);
    expect(json.labels).toEqual({ order: '4711', note: 'a=b, c' });
    await page.getByText('order=4711, note=a=b, c', { exact: true }).waitFor();
  });

  test('a null in further metadata is sent as it is', async () => {
    const { page, complaints } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('nothing of note');
    await on.openMore(page);
    await page
      .locator('textarea[name=metadata]')
      .fill('{"camera": null, "studio": {"render": "none"}}');
    await on.promptOf(page).fill('something of note');
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/videos/generations'));
    await on.createButton(page).click();
    const { prompt, metadata } = (await sent).postDataJSON();
    expect([prompt, metadata.camera]).toEqual(['something of note', null]);
    expect(complaints).toEqual([]);
  });

  test('a super-resolution without a size is not sent as a plain video', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a large letter');
    await page.getByText('Super-resolution').click();
    await page.getByRole('radio', { name: 'Short side' }).check({ force: true });
    let isSent = false;
    page.on('request', (request) => {
      isSent ||= request.url().endsWith('/v1/videos/generations');
    });
    await on.createButton(page).click();
    await page.getByText('Choose how large the video becomes.').waitFor();
    expect(isSent).toBe(false);
  });

  test('the create button is visible without scrolling', async () => {
    const viewport = { width: 1280, height: 800 };
    const { page } = await on.visit(site, site.service.apiKey, { viewport });
    const box = await on.createButton(page).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
  });

  test('the form can be filled in and sent with the keyboard alone', async () => {
    const { page } = await on.visit(site);
    await page.locator('[name=key]:focus').waitFor();
    await page.keyboard.type(site.service.apiKey);
    await page.keyboard.press('Enter');
    await page.locator('[data-test=hold]').waitFor();
    const isThere = () => page.evaluate(`document.activeElement.name === 'prompt'`);
    for (let steps = 0; !(await isThere()) && steps < 20; steps += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('a fox in the snow');
    await page.keyboard.press('Control+Enter');
    await on.createdId(page);
    await page.locator('.words', { hasText: 'a fox in the snow' }).waitFor();
  });

  test('the form with the generated code is not wider than the window', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(`document.querySelector('details.codes').open = true`);
      await page.locator('details.codes pre').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      );
    }
  });

  test('the generated shell and JavaScript code creates a task and waits until the task ends', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill(`it's "quoted" \\ and 雨`);
    await on.direct(page, { render: 'none' });
    await page.locator('.codes summary').click();
    const shown = page.locator('.codes code');
    const run = promisify(execFile);
    const options = {
      env: { PATH: process.env.PATH, API_KEY: site.service.apiKey },
      timeout: 70_000,
    };
    const curl = await run('sh', ['-c', (await shown.textContent()) ?? ''], options);
    expect(JSON.parse(curl.stdout)).toMatchObject({ status: 'succeeded' });
    await page.getByRole('button', { name: 'Python' }).click();
    expect(await shown.textContent()).toContain('"render": "none"');
    await page.getByRole('button', { name: 'JavaScript' }).click();
    const code = (await shown.textContent()) ?? '';
    expect(code).not.toContain(site.service.apiKey);
    const { stdout, stderr } = await run(
      process.execPath,
      ['--input-type=module', '--eval', code],
      options,
    );
    expect(stdout).toMatch(/^http.+\.mp4/);
    expect(stderr).toMatch(/^task_\w+\n/);
  });

  test.each([
    [390, 'light'],
    [800, 'light'],
    [1280, 'dark'],
  ] as const)(
    'no page is wider than a window of %d pixels with %s colours',
    async (width, colorScheme) => {
      const { page, complaints } = await on.visit(site, site.service.apiKey, {
        viewport: { width, height: 844 },
        colorScheme,
      });
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      const [red = 0] = /\d+/.exec(String(ground))?.map(Number) ?? [];
      expect(red > 128).toBe(colorScheme === 'light');
      for (const view of ['create', 'tasks', 'library', 'account']) {
        await page.goto(`${site.service.url}/#/${view}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await on.untilRead(page);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect([view, Number(wide) <= width]).toEqual([view, true]);
        if (view === 'account') {
          await page.getByRole('radio', { name: 'Every movement' }).check({ force: true });
          await page.locator('.statement tbody tr').first().waitFor();
          await on.untilTrue(page, notScrolled);
        }
        // A link or button of the header is higher than this if its text needs two lines.
        for (const item of await page.locator('.top :is(a, button):visible').all()) {
          expect((await item.boundingBox())?.height).toBeLessThan(48);
        }
      }
      expect(complaints).toEqual([]);
    },
  );
});
