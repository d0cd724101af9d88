// Starts a real browser for the tests of the playground. Without Chromium these tests are skipped,
// and a message is printed.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type Service, startService } from '../support/service';
import { starting } from '../support/starting';
import { until } from '../support/until';

// The shell, which shows nothing on a screen, needs less processor time than the whole browser.
const names = [
  'chromium-headless-shell',
  ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
];

export function findChromium(): string | null {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const executablePath = findChromium();

export interface Site {
  readonly service: Service;
  readonly browser: Browser;
  /** The page of all visits. A new page for each visit would take most of the tests' time. */
  page?: Page;
  /** A receiver of callbacks. The service is allowed to call it. */
  readonly sink: CallbackSink;
}

/** A `describe` whose tests get a running service with the playground and a browser. */
export function describeInBrowser(name: string, tests: (site: Site) => void): void {
  if (!executablePath) {
    process.stderr.write(
      `Skipped: "${name}" needs a Chromium: set CHROMIUM_PATH or put "chromium" on the PATH.\n`,
    );
    // Jest counts a suite as skipped only if it has a test.
    describe.skip(name, () => {
      test('is skipped without a browser', () => undefined);
    });
    return;
  }
  describe(name, () => {
    const site = {} as { -readonly [K in keyof Site]: Site[K] };
    beforeAll(async () => {
      site.sink = await startCallbackSink();
      site.service = await startService({
        settings: { playground: true, temporalUiUrl: 'http://ui.test' },
        allowHosts: [site.sink.hostPort],
      });
      site.browser = await starting(() => launchBrowser(executablePath));
    });
    afterAll(async () => {
      await site.browser?.close();
      await site.service?.close();
      await site.sink?.close();
    });
    tests(site);
  });
}

export async function launchBrowser(path: string): Promise<Browser> {
  // In containers Chromium runs as root and /dev/shm is small. Without these flags Chromium fails
  // there.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return chromium.launch({ executablePath: path, args });
}

interface Visit {
  readonly page: Page;
  /** The errors of the page's code and violations of its security policy. */
  readonly complaints: string[];
  /** Every host to which the page sent a request. */
  readonly hosts: Set<string>;
}

interface Looks {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
}

/** Loads the page with empty storage, which ends the visit before. Signs in if there is a key. */
export async function visit(site: Site, key?: string, looks: Looks = {}): Promise<Visit> {
  const { url } = site.service;
  site.page ??= await openPage(site.browser);
  const { page } = site;
  await leave(page, url);
  const { viewport = { width: 1280, height: 900 }, colorScheme = 'light' } = looks;
  await page.setViewportSize(viewport);
  // Without animations the machine has more time for the tests.
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme });
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser logs each refused request as an error. Refusals are expected here.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto(url);
  if (key !== undefined) await signIn(page, key);
  return { page, complaints, hosts };
}

async function openPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  // Only a limit for a page that never shows what a test waits for. A busy machine may need long for
  // the first page.
  page.setDefaultTimeout(120_000);
  return page;
}

/** Leaves nothing of a visit: no listener, no route, no running code and no stored data. */
async function leave(page: Page, url: string): Promise<void> {
  page.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // A path of the same origin that runs no code, so nothing is stored again.
  await page.goto(`${url}/playground.json`);
  await page.evaluate('sessionStorage.clear(), localStorage.clear()');
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('[data-test=hold]').waitFor();
}

export const promptOf = (page: Page) => page.getByRole('textbox', { name: 'Prompt' });
export const createButton = (page: Page) => page.getByRole('button', { name: /^Create video/ });

/** Enters a script for the studio in the metadata field of the form. */
export async function direct(page: Page, studio: Record<string, unknown>): Promise<void> {
  await openMore(page);
  await page.locator('textarea[name=metadata]').fill(JSON.stringify({ studio }));
}

export async function openMore(page: Page): Promise<void> {
  const field = page.locator('textarea[name=metadata]');
  if (!(await field.isVisible())) await page.locator('.more summary').click();
  await field.waitFor();
}

/** Clicks the create button and returns the id of the task whose page opens. */
export async function create(page: Page): Promise<string> {
  await createButton(page).click();
  return createdId(page);
}

export async function createdId(page: Page): Promise<string> {
  await page.waitForURL(/#\/tasks\/task_/);
  return page.url().split('/').at(-1) ?? '';
}

export async function untilEnd(page: Page, state: 'done' | 'failed'): Promise<void> {
  await page.locator(`[data-step=end][data-state=${state}]`).waitFor({ timeout: 100_000 });
}

/**
 * Playwright's `waitForFunction` cannot be used: the page's security policy forbids its evaluation.
 */
export function untilTrue(page: Page, expression: string): Promise<void> {
  return until(expression, async () => (await page.evaluate(expression)) === true);
}

/** Waits until the page waits for no answer. A page that still loads has nothing to judge. */
export const untilRead = (page: Page): Promise<void> =>
  untilTrue(page, `document.querySelector('.boot') === null`);
