// Checks the accessibility of a page with axe.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

/** The colours are all that a theme changes, so a dark page whose light one is checked needs only this rule. */
export const ofColours = ['color-contrast'];

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/**
 * Returns axe's violations, of these rules only if they are named. Waits for animations first, because
 * axe would check colours in between.
 */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  const check = (only: readonly string[] | undefined) =>
    page.evaluate(async (runOnly) => {
      const { axe: loaded, document } = globalThis as unknown as {
        axe?: { run(options: object): Promise<{ violations: Violation[] }> };
        document: { getAnimations(): { finished: Promise<unknown> }[] };
      };
      await Promise.all(document.getAnimations().map(({ finished }) => finished));
      return loaded?.run({ resultTypes: ['violations'], ...(runOnly ? { runOnly } : {}) });
    }, only);
  // The page's security policy forbids a script element, so axe is loaded by evaluation.
  const found = (await check(rules)) ?? (await page.evaluate(axe).then(() => check(rules)));
  return (found?.violations ?? []).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}: ${failureSummary}`),
  );
}
