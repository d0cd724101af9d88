// Workflows with a deliberate fault: lines that are planted in the bundle of the run.

import { readFileSync } from 'node:fs';
import { workflowBundle } from './temporal';

/** The bundle of the run, in which each of these functions begins with this line. */
export function bundleWith(lines: Readonly<Record<string, string>>): { readonly code: string } {
  let code = readFileSync(workflowBundle().codePath, 'utf8');
  for (const [name, line] of Object.entries(lines)) {
    const start = new RegExp(`\\basync function ${name}\\(\\w*\\) \\{`, 'g');
    expect(code.match(start)).toHaveLength(1);
    code = code.replace(start, (found) => `${found} ${line}`);
  }
  return { code };
}
