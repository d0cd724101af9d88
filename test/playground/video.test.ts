// Creates videos with the playground in a real browser, from the empty form to the playing video.

import * as on from './browser';

on.describeInBrowser('a task on the playground', (site) => {
  test('the form creates a video, and the page plays it and shows its last frame and its bill', async () => {
    const { page, complaints, hosts } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a lighthouse at dusk');
    await page.getByRole('radio', { name: '480p' }).check({ force: true });
    await page.getByRole('switch', { name: /^Last frame/ }).check();
    const id = await on.create(page);
    await on.untilEnd(page, 'done');

    const film = page.locator('.screen video');
    await page.evaluate(`document.querySelector('.screen video').play()`);
    await on.untilTrue(page, `document.querySelector('.screen video').currentTime > 0`);
    const lastFrame = page.getByAltText('The last frame');
    await on.untilTrue(page, `document.querySelector('.last img').naturalWidth > 0`);
    const { json: task } = await site.service.call('GET', `/v1/videos/generations/${id}`);
    expect(await film.getAttribute('src')).toBe(task.video_url);
    expect(await lastFrame.getAttribute('src')).toBe(task.data[0].last_frame_url);
    const charged = page.locator('[data-test=charged]');
    expect(Number(await charged.textContent())).toBe(
      Number(Number(task.billing.charged).toFixed(2)),
    );
    const line = page.locator('.ticket dl div', { hasText: 'Charged' }).locator('dd');
    expect(await line.textContent()).toBe(task.billing.charged);
    const tokens = (await page.locator('[data-test=tokens]').textContent()) ?? '';
    expect(Number(tokens.replaceAll(',', ''))).toBe(task.usage.completion_tokens);
    expect(
      await page.getByRole('link', { name: 'Workflow in Temporal' }).getAttribute('href'),
    ).toBe(`http://ui.test/namespaces/default/workflows/${id}`);

    const frame = page.locator('.facts div', { hasText: 'Frame' }).locator('dd');
    expect(task.data[0]).toMatchObject({ width: 864, height: 496, ratio: '16:9' });
    expect(await frame.textContent()).toBe('864 × 496');

    await page.reload();
    await film.waitFor();
    await frame.waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe(`${id}.mp4`);
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: 'Delete video' }).click();
    await page.getByText('The video is not kept any more: it was deleted.').waitFor();
    expect(await page.getByRole('link', { name: 'Download' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    expect([...hosts]).toEqual([new URL(site.service.url).host]);
  });

  test('a finished task shows when each of its steps began and how long it took, in any tab', async () => {
    const first = await on.visit(site, site.service.apiKey);
    await on.promptOf(first.page).fill('a lighthouse at dawn');
    await on.direct(first.page, { render: 'none' });
    const id = await on.create(first.page);
    await on.untilEnd(first.page, 'done');

    const { page } = await on.visit(site, site.service.apiKey);
    await page.goto(`${site.service.url}/#/tasks/${id}`);
    await on.untilEnd(page, 'done');
    const { timings } = (await site.service.call('GET', `/v1/videos/generations/${id}`)).json;
    const took = await page.locator('[data-step] .when').allTextContents();
    const lengths = took.slice(0, -1).map((text) => text.split(' · ')[1]);
    const stored = ['queued', 'placed', 'generated', 'stored'].map((part) => shown(timings[part]));
    expect(lengths).toEqual(stored);
    expect(await page.getByText('seen').count()).toBe(0);
  });

  // A part that took a minute would be shown in minutes.
  const shown = (seconds: number) =>
    seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds)} s`;

  const jpeg = /\.jpg$/;
  test.each([
    ['Text', [], { input_type: 'text_to_video' }],
    [
      'First & last frame',
      ['dawn.jpg', 'ocean.jpg'],
      {
        input_type: 'first_last_frame',
        images: [expect.stringMatching(jpeg), expect.stringMatching(jpeg)],
      },
    ],
    [
      'Reference',
      ['forest.jpg', 'mountains.mp4', 'chime.wav'],
      {
        input_type: 'reference',
        images: [expect.stringMatching(jpeg)],
        videos: [expect.stringMatching(/\.mp4$/)],
        audios: [expect.stringMatching(/\.wav$/)],
      },
    ],
  ])('a task with the input type %s is sent as entered', async (input, samples, expected) => {
    const { page, complaints } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a paper boat');
    await page.getByRole('radio', { name: input, exact: true }).check({ force: true });
    for (const sample of samples) {
      await page.getByRole('button', { name: `Add the sample ${sample}` }).click();
    }
    await on.direct(page, { render: 'none' });
    const sent = page.waitForRequest((request) => request.url().endsWith('/generations'));
    await on.create(page);
    expect((await sent).postDataJSON()).toEqual({
      model: 'studio-2.0',
      prompt: 'a paper boat',
      metadata: { studio: { render: 'none' } },
      ...expected,
    });
    await on.untilEnd(page, 'done');
    expect(complaints).toEqual([]);
  });
});
