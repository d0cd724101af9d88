// A real browser for the tests of the page. Without Chromium the tests are skipped and say so.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type Service, startService } from '../support/service';
import { until } from '../support/until';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

function findChromium(): string | null {
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
  /** A receiver of callbacks that the service may call. */
  readonly sink: CallbackSink;
}

/** A `describe` with a service, its page and a browser, which are ready when its tests run. */
export function describeInBrowser(name: string, tests: (site: Site) => void): void {
  if (!executablePath) {
    process.stderr.write(
      `Skipped: "${name}" needs a Chromium: set CHROMIUM_PATH or have "chromium" on the PATH.\n`,
    );
    // Jest counts only tests that exist as skipped.
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
      site.browser = await launchBrowser(executablePath);
    });
    afterAll(async () => {
      await site.browser?.close();
      await site.service?.close();
      await site.sink?.close();
    });
    tests(site);
  });
}

async function launchBrowser(path: string): Promise<Browser> {
  // Containers run as root and have a small /dev/shm; neither works with the defaults.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return chromium.launch({ executablePath: path, args });
}

interface Visit {
  readonly page: Page;
  /** Errors of the page's own code or of its policy. */
  readonly complaints: string[];
  /** Every host that the page requested anything from. */
  readonly hosts: Set<string>;
}

/** A new tab with empty storage; `key` signs in. */
export async function visit(
  { browser, service }: Site,
  key?: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  // Without animations the machine has more time for the tests.
  const calm = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' } as const;
  const context = await browser.newContext({ ...calm, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // To the browser an expected refusal is a failed resource; every other error counts.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto(service.url);
  if (key !== undefined) await signIn(page, key);
  return { page, complaints, hosts };
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('[data-test=hold]').waitFor();
}

export const promptOf = (page: Page) => page.getByRole('textbox', { name: 'Prompt' });
export const createButton = (page: Page) => page.getByRole('button', { name: /^Create video/ });

/** A script for the studio, sent as further metadata. */
export async function direct(page: Page, studio: Record<string, unknown>): Promise<void> {
  await openMore(page);
  await page.locator('textarea[name=metadata]').fill(JSON.stringify({ studio }));
}

export async function openMore(page: Page): Promise<void> {
  const field = page.locator('textarea[name=metadata]');
  if (!(await field.isVisible())) await page.locator('.more summary').click();
  await field.waitFor();
}

/** Clicks, and returns the id of the task whose page then opens. */
export async function create(page: Page): Promise<string> {
  await createButton(page).click();
  return createdId(page);
}

export async function createdId(page: Page): Promise<string> {
  await page.waitForURL(/#\/tasks\/task_/);
  return page.url().split('/').at(-1) ?? '';
}

export async function untilEnd(page: Page, state: 'done' | 'failed'): Promise<void> {
  await page.locator(`[data-step=end][data-state=${state}]`).waitFor({ timeout: 40_000 });
}

/** Playwright's own `waitForFunction` evaluates inside the page, which its policy forbids. */
export function untilTrue(page: Page, expression: string): Promise<void> {
  return until(expression, async () => (await page.evaluate(expression)) === true);
}
