// One console and one browser for the tests of a page: sign-in, axe in both themes and at two widths, and
// what the browser complained about.

import type { Locator, Page } from 'playwright-core';
import type { OperatorRole } from '../../src/operators/roles.rules';
import { findChromium, launchBrowser } from '../playground/browser';
import { ofColours, violationsOf } from '../support/axe';
import { startConsole, type TestConsole } from '../support/console';
import { starting } from '../support/starting';
import { until } from '../support/until';

const executablePath = findChromium();
export const hasBrowser = executablePath !== null;
export const describeInBrowser = hasBrowser ? describe : describe.skip;

/** How a page is looked at. `rules`: those of axe that are checked; absent: all. */
export interface Look {
  readonly width: 1280 | 360;
  readonly colorScheme: 'light' | 'dark';
  readonly rules?: readonly string[];
}

const inDark = { colorScheme: 'dark', rules: ofColours } as const;
const widths = [360, 1280] as const;
export const everyLook: readonly Look[] = widths.flatMap((width) => [
  { width, colorScheme: 'light' } as const,
  { width, ...inDark },
]);
// A narrow page shows nothing that a wide one does not show, and in the same colours.
const eachLook = everyLook.filter(({ width, rules }) => !(width === 360 && rules));

/** JavaScript: the words that stand on two lines, the facts that do not fit, and a page that is too wide. */
const spoilt = `[
  ...[...document.querySelectorAll('main :is(.badge, time, td[data-label=Task] a)')].filter((one) => {
    const tops = [...one.getClientRects()].map(({ top }) => top);
    return Math.max(...tops) - Math.min(...tops) > 10;
  }),
  ...[...document.querySelectorAll('main :is(.facts, dd)')].filter((one) => one.scrollWidth > one.clientWidth),
].map((one) => one.textContent.trim() + ' is broken or cut').concat(
  document.documentElement.scrollWidth > innerWidth ? ['the page is ' + document.documentElement.scrollWidth + ' wide'] : [],
)`;

export interface ConsoleInBrowser {
  readonly served: TestConsole;
  readonly page: Page;
  /** Errors of scripts, and lines of errors except refused calls. */
  readonly complaints: readonly string[];
  /** The hosts that the page asked. */
  readonly hosts: ReadonlySet<string>;
  /** The texts of all answers of the admin API since the last sign-in. */
  answers(): Promise<string>;
  /** Loads the page anew, until the element is shown. */
  open(hash: string, shown: Locator): Promise<void>;
  /** Goes to another view of the loaded page. Nothing of the view before is left when it is shown. */
  go(hash: string, shown: Locator): Promise<void>;
  signIn(role: OperatorRole, hash: string): Promise<void>;
  /** Time passes for the page, so that it reads again what it reads by itself. */
  passes(ms: number): Promise<void>;
  /**
   * The violations that axe finds, by state, width and theme, and what is spoilt at each width. Each state
   * leads the page to itself, at the width of its first look.
   */
  violations(
    states: Readonly<Record<string, () => Promise<void>>>,
    looksAt?: (index: number) => readonly Look[],
  ): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openConsole(
  settings: Readonly<Record<string, string>> = {},
): Promise<ConsoleInBrowser> {
  const served = await startConsole({ isTimed: true, settings });
  const opened = await browse(served);
  return {
    ...opened,
    async close() {
      await opened.close();
      await served.close();
    },
  };
}

/** Opens a browser for a console, which somebody else closes. */
export async function browse(served: TestConsole): Promise<ConsoleInBrowser> {
  const browser = await starting(() => launchBrowser(executablePath ?? ''));
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(120_000);
  await page.clock.install();
  const complaints: string[] = [];
  const hosts = new Set<string>();
  const answers: Promise<string>[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (request.url().startsWith('http')) hosts.add(new URL(request.url()).host);
  });
  page.on('response', (response) => {
    if (!response.url().includes('/admin/v1/')) return;
    answers.push(response.text().catch(() => ''));
  });
  const open: ConsoleInBrowser['open'] = (hash, shown) =>
    // Chromium gives up its requests when a network of the machine changes, as other tests make it do.
    // A page that lacks a file stays as it is, and is loaded again.
    until('the page is shown', async () => {
      await page.goto('about:blank');
      await page.goto(`${served.url}/${hash}`);
      return shown.waitFor({ timeout: 15_000 }).then(
        () => true,
        () => false,
      );
    });
  return {
    ...{ served, page, complaints, hosts },
    answers: async () => (await Promise.all(answers)).join('\n'),
    open,
    async go(hash, shown) {
      await page.goto(`${served.url}/#/find`);
      await page.getByRole('heading', { name: 'Search' }).waitFor();
      await page.goto(`${served.url}/${hash}`);
      await shown.waitFor();
    },
    async signIn(role, hash) {
      await page.context().clearCookies();
      const label = page.getByLabel('Key of an operator');
      await open(hash, label);
      answers.length = 0;
      await label.fill(served.keys[role]);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText(`${role}, ${role}`).waitFor();
    },
    passes: (ms) => page.clock.fastForward(ms),
    async violations(states, looksAt = () => eachLook) {
      const found: string[] = [];
      for (const [index, [state, lead]] of Object.entries(states).entries()) {
        const looks = looksAt(index);
        await page.setViewportSize({ width: looks[0]?.width ?? 1280, height: 900 });
        await lead();
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          for (const { colorScheme, rules } of looks.filter((look) => look.width === width)) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            const wrong = await violationsOf(page, rules);
            found.push(...wrong.map((one) => `${state}, ${width}, ${colorScheme}: ${one}`));
          }
          const wrong = (await page.evaluate(spoilt)) as string[];
          found.push(...wrong.map((one) => `${state}, ${width}: ${one}`));
        }
      }
      await page.setViewportSize({ width: 1280, height: 900 });
      return found;
    },
    close: () => browser.close(),
  };
}
