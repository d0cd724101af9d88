// Reports the coverage of `workflows/` and `activities/`, where an untested statement may cost
// money. The report shows the percentage of tested statements, and every untested line with a
// reason. The reason comes from a comment "Untested: …" on the untested line or up to three lines
// above it.

import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { root } from './run.mjs';

const folders = ['workflows', 'activities'];
const wanted = 95;

/**
 * The options for jest, which counts only the statements of activities. Jest cannot see the
 * workflows in their sandbox, so the bundle of the workflows counts its own statements.
 */
export function coverageOptions(folder) {
  return [
    '--coverage',
    '--coverageProvider=babel',
    '--collectCoverageFrom=activities/**/*.ts',
    '--coverageReporters=json',
    `--coverageDirectory=${folder}`,
  ];
}

/** Prints the figures. Returns true if every folder reaches the wanted percentage, else false. */
export function reportCoverage(folder) {
  const report = JSON.parse(readFileSync(join(folder, 'coverage-final.json'), 'utf8'));
  const files = Object.values(report).map((file) => ({
    name: relative(root, file.path).split(sep).join('/'),
    ...file,
  }));
  let enough = true;
  for (const folder of folders) {
    const here = files.filter(({ name }) => name.startsWith(`${folder}/`));
    const counts = here.flatMap(({ s }) => Object.values(s));
    const share = (100 * counts.filter((count) => count > 0).length) / Math.max(counts.length, 1);
    process.stdout.write(`statements run in ${folder}/: ${share.toFixed(1)} %\n`);
    enough &&= share >= wanted;
    for (const line of here.flatMap((file) => linesLeftOut(file))) {
      process.stdout.write(`  ${line}\n`);
    }
  }
  if (!enough) process.stdout.write(`at least ${wanted} % of each are wanted\n`);
  return enough;
}

function linesLeftOut({ name, path, s, statementMap }) {
  const source = readFileSync(path, 'utf8').split('\n');
  const lines = new Set(
    Object.entries(s).flatMap(([id, count]) => (count > 0 ? [] : [statementMap[id].start.line])),
  );
  return [...lines]
    .sort((a, b) => a - b)
    .map((line) => {
      const near = source.slice(Math.max(0, line - 4), line).reverse();
      const [, reason] = near.join('\n').match(/Untested: (.*)/) ?? [];
      return `${name}:${line} ${near[0]?.trim()} — ${reason ?? 'no reason given'}`;
    });
}
