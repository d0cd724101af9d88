// Tests the files of the playground: uploads in the form, and the list of files in the library.

import type { Page } from 'playwright-core';
import { beginnings } from '../support/files';
import * as on from './browser';

/** Drops a file on the field of this kind of input, as a user would. */
async function drop(page: Page, kind: string, name: string, type: string, bytes: Buffer) {
  const data = bytes.toString('base64');
  const transfer = await page.evaluateHandle(
    `(() => {
      const bytes = Uint8Array.from(atob('${data}'), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], '${name}', { type: '${type}' }));
      return transfer;
    })()`,
  );
  const field = page.locator(`fieldset[data-kind=${kind}]`);
  for (const event of ['dragover', 'drop']) {
    await field.dispatchEvent(event, { dataTransfer: transfer });
  }
}

on.describeInBrowser('files on the playground', (site) => {
  const sample = async (name: string) => {
    const reply = await fetch(`${site.service.studio.url}/samples/${name}`);
    return Buffer.from(await reply.arrayBuffer());
  };
  const upload = async (apiKey: string, name: string) => {
    const reply = await fetch(`${site.service.url}/v1/files?name=${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: new Uint8Array(beginnings['image/png'] as Buffer),
    });
    expect(reply.status).toBe(200);
  };

  test('the form uploads a dropped image and a selected image, shows both, and sends both with the task', async () => {
    const { page, complaints } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('dawn becomes night');
    await page.getByRole('radio', { name: 'First & last frame' }).check({ force: true });
    await drop(page, 'image', 'first.jpg', 'image/jpeg', await sample('dawn.jpg'));
    await page.locator('.chosen .address', { hasText: 'first.jpg' }).waitFor();
    await page.locator('.chosen img').scrollIntoViewIfNeeded();
    await on.untilTrue(page, `document.querySelector('.chosen img').naturalWidth > 0`);
    const night = { name: 'last.jpg', mimeType: 'image/jpeg', buffer: await sample('forest.jpg') };
    await page.locator('input[type=file]').setInputFiles(night);
    await page.locator('.chosen .address', { hasText: 'last.jpg' }).waitFor();
    expect(await on.promptOf(page).inputValue()).toBe('dawn becomes night');
    await on.direct(page, { render: 'none' });
    const sent = page.waitForRequest((request) => request.url().endsWith('/generations'));
    await on.create(page);
    const ours = expect.stringContaining(`${site.service.url}/files/`);
    expect((await sent).postDataJSON()).toMatchObject({
      input_type: 'first_last_frame',
      images: [ours, ours],
    });
    await on.untilEnd(page, 'done');
    expect(complaints).toEqual([]);
  });

  test('no task is sent while a file of it is uploaded, and the file reaches the form after a visit of another view', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await on.promptOf(page).fill('a slow picture');
    await page.getByRole('radio', { name: 'Reference' }).check({ force: true });
    let release: () => void = () => undefined;
    const held = new Promise<void>((go) => {
      release = go;
    });
    await page.route('**/v1/files?name=*', async (route) => {
      await held;
      await route.continue();
    });
    await drop(page, 'image', 'slow.jpg', 'image/jpeg', await sample('dawn.jpg'));
    await page.getByRole('button', { name: 'Uploading…' }).waitFor();
    expect(await page.getByRole('button', { name: 'Uploading…' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    await page.getByRole('link', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Uploading…' }).waitFor();
    release();
    await page.locator('.chosen .address', { hasText: 'slow.jpg' }).waitFor();
  });

  test('the form uploads a dropped video and a dropped sound as references', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await page.getByRole('radio', { name: 'Reference', exact: true }).check({ force: true });
    await drop(page, 'video', 'clip.mp4', 'video/mp4', await sample('mountains.mp4'));
    await page.locator('[data-kind=video] .chosen', { hasText: 'clip.mp4' }).waitFor();
    await drop(page, 'audio', 'chime.wav', 'audio/wav', await sample('chime.wav'));
    await page.locator('[data-kind=audio] .chosen', { hasText: 'chime.wav' }).waitFor();
  });

  test('the form refuses a file of the wrong type and shows the reason', async () => {
    const { page } = await on.visit(site, site.service.apiKey);
    await page.getByRole('radio', { name: 'First & last frame' }).check({ force: true });
    await drop(page, 'image', 'note.txt', 'text/plain', Buffer.from('no picture'));
    await page.getByText('note.txt: The content of the file is of no accepted type.').waitFor();
    await drop(page, 'image', 'clip.mp4', 'video/mp4', await sample('mountains.mp4'));
    await page.getByText('clip.mp4 is a video, not an image.').waitFor();
    expect(await page.locator('.chosen').count()).toBe(0);
  });

  test('the library lists uploaded files in pages, deletes a file, and puts a file into the form', async () => {
    const { apiKey } = await site.service.anAccount();
    for (let number = 1; number <= 13; number += 1) await upload(apiKey, `file-${number}.png`);
    const { page } = await on.visit(site, apiKey);
    await page.goto(`${site.service.url}/#/library`);
    const cards = page.getByRole('region', { name: 'Uploaded files' }).locator('.card');
    await page.getByRole('button', { name: 'Show more' }).click();
    await cards.nth(12).waitFor();
    expect(await cards.count()).toBe(13);
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: 'Delete file-13.png' }).click();
    await page.getByText('file-13.png').waitFor({ state: 'detached' });
    const { json } = await site.service.call('GET', '/v1/files?limit=100', undefined, {
      authorization: `Bearer ${apiKey}`,
    });
    expect(json.data).toHaveLength(12);
    await page.getByRole('button', { name: 'Use file-12.png' }).click();
    await page.locator('[data-kind=image] .chosen', { hasText: 'file-12.png' }).waitFor();
  });

  test('the library shows the video of a finished task, and can delete the video', async () => {
    const { apiKey } = await site.service.anAccount();
    const { page, complaints } = await on.visit(site, apiKey);
    await on.promptOf(page).fill('a lighthouse');
    await on.direct(page, { render: 'none' });
    const id = await on.create(page);
    await on.untilEnd(page, 'done');
    await page.goto(`${site.service.url}/#/library`);
    const card = page.getByRole('region', { name: 'Videos' }).locator('.card');
    await card.getByText('Kept until').waitFor();
    const link = await card.getByRole('link', { name: 'Open a lighthouse' }).getAttribute('href');
    expect((await fetch(link ?? '')).status).toBe(200);
    // The model of the draft takes no videos, so the draft gets one that does.
    await page.goto(`${site.service.url}/#/create`);
    await page.getByLabel('Model').selectOption('studio-1.0');
    await page.goto(`${site.service.url}/#/library`);
    await card.getByRole('button', { name: 'Use a lighthouse' }).click();
    await page.locator('[data-kind=video] .chosen', { hasText: 'a lighthouse' }).waitFor();
    await page.goto(`${site.service.url}/#/library`);
    page.once('dialog', (dialog) => dialog.accept());
    await card.getByRole('button', { name: 'Delete a lighthouse' }).click();
    await card.getByText('Not kept any more: it was deleted.').waitFor();
    expect((await fetch(link ?? '')).status).toBe(410);
    await card.getByRole('link', { name: 'a lighthouse' }).click();
    await page.waitForURL(new RegExp(`#/tasks/${id}$`));
    expect(complaints).toEqual([]);
  });
});
