// Builds the programs of the Temporal cluster before the first test, so that no test's time limit
// includes the build.

import { temporalPrograms } from './temporal-build';

export default async function clusterSetup(): Promise<void> {
  await temporalPrograms((line) => process.stderr.write(`${line}\n`));
}
