// `npm run screenshots`: starts the stack of `npm start` in a folder of its own, makes a few tasks, and
// writes the pictures of docs/screenshots. It needs a Chromium: CHROMIUM_PATH, or one on the PATH.

import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { fail, root } from './lib/run.mjs';

const folder = join(root, 'docs', 'screenshots');
const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
// The first start downloads the servers.
const startsWithinMs = 10 * 60_000;

const prompts = [
  'A paper boat sails down a rainy street, low camera, evening light',
  'A lighthouse at dusk, waves rolling in, slow aerial shot',
  'Snow falling on quiet mountains, a lone fox crosses the frame',
];

const data = await mkdtemp(join(tmpdir(), 'screenshots-'));
const stack = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
  env: { ...process.env, DATA_DIR: data },
  stdio: 'inherit',
});
const ended = new Promise((resolve) => stack.on('close', resolve));
try {
  await takeAll(await running());
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error.stack}\n`);
} finally {
  stack.kill('SIGINT');
  await ended;
  await rm(data, { recursive: true, force: true });
}

async function running() {
  for (const until = Date.now() + startsWithinMs; Date.now() < until; await pause(500)) {
    if (stack.exitCode !== null) throw new Error('The stack has ended.');
    try {
      return JSON.parse(readFileSync(join(data, 'dev.json'), 'utf8'));
    } catch {
      // The file is written when all parts are ready.
    }
  }
  throw new Error('The stack has not started in time.');
}

async function takeAll({ apiUrl, apiKey, accountId, consoleUrl, consoleKey }) {
  await mkdir(folder, { recursive: true });
  const ids = [];
  for (const prompt of prompts) ids.push(await finished(apiUrl, apiKey, prompt));
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    page.setDefaultTimeout(60_000);
    const take = async (name) => {
      await page.waitForLoadState('networkidle');
      const png = await page.screenshot({ animations: 'disabled' });
      await writeFile(
        join(folder, `${name}.png`),
        await sharp(png).png({ palette: true }).toBuffer(),
      );
    };
    await page.goto(apiUrl);
    await signIn(page, apiKey);
    await page.getByRole('textbox', { name: 'Prompt' }).fill(prompts[0]);
    await page.locator('[data-test=hold]').waitFor();
    await take('playground-create');
    await page.goto(`${apiUrl}/#/tasks/${ids[0]}`);
    await page.locator('video').waitFor();
    await page.locator('[data-test=charged]').waitFor();
    // The picture shows a frame of the video, and not the moment before it is loaded.
    await pause(2_000);
    await take('playground-task');
    await page.goto(consoleUrl);
    await signIn(page, consoleKey);
    for (const [name, view] of [
      ['console-tasks', 'tasks'],
      ['console-task', `tasks/${ids[0]}`],
      ['console-customer', `customers/${accountId}`],
    ]) {
      await page.goto(`${consoleUrl}/#/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await pause(1_000);
      await take(name);
    }
  } finally {
    await browser.close();
  }
}

async function signIn(page, key) {
  await page.getByLabel(/key/i).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

async function finished(apiUrl, apiKey, prompt) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const ask = async (path, init = {}) => {
    const reply = await fetch(`${apiUrl}/v1/videos/generations${path}`, { ...init, headers });
    return reply.json();
  };
  const body = JSON.stringify({ model: 'studio-2.0', prompt, resolution: '480p', duration: 4 });
  let task = await ask('', { method: 'POST', body });
  while (task.status !== 'succeeded') {
    if (task.status === 'failed') throw new Error(task.error.message);
    await pause(1_000);
    task = await ask(`/${task.id}`);
  }
  return task.id;
}

function browserPath() {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const found = folders
    .flatMap((place) => names.map((name) => join(place, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  return found ?? fail(new Error('Set CHROMIUM_PATH, or put "chromium" on the PATH.'));
}
