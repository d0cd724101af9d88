// Checks the accessibility of a page with axe.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

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
  await page.evaluate(
    'Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => null)',
  );
  // The page's security policy forbids a script element, so axe is loaded by evaluation.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe);
  const found = await page.evaluate((only) => {
    const { axe: loaded } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> };
    };
    return loaded.run({ resultTypes: ['violations'], ...(only ? { runOnly: only } : {}) });
  }, rules);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}: ${failureSummary}`),
  );
}
