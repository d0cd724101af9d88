// `npm run bench` measures the rows and prints a table (bench/README.md). An error, an unfinished
// task or wrong books end the run without the final table.

import { parseArgs } from 'node:util';
import { audit } from '../src/money/audit.rows';
import { printTable, writeResults } from './report';
import type { Finding } from './row';
import { rows } from './rows';
import { openWorld, type World } from './world';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    'creating-seconds': { type: 'string', default: '240' },
    'old-tasks': { type: 'string', default: '200000' },
  },
});

async function main(): Promise<void> {
  const wanted = values.only?.split(',');
  const unknown = wanted?.filter((name) => !rows.some((row) => row.name === name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(
      `There is no row ${unknown.join(', ')}. Rows: ${rows.map(({ name }) => name).join(', ')}.`,
    );
  }
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const settings = {
    quick: values.quick,
    rounds: Number(values.rounds),
    creatingSeconds: Number(values['creating-seconds']),
    oldTasks: Number(values['old-tasks']),
  };
  const { world, close } = await openWorld(settings, say);
  try {
    const findings: (Finding & { readonly row: string })[] = [];
    for (const row of rows.filter(({ name }) => wanted?.includes(name) ?? true)) {
      const started = Date.now();
      const found = await row.measure(world);
      await booksMustAgree(world);
      const named = found.map((finding) => ({ row: row.name, ...finding }));
      findings.push(...named);
      say(`✓ ${row.name} (${((Date.now() - started) / 1_000).toFixed(0)} s)`);
      printTable(found, process.stderr);
      // Written after each row, so that a later failure does not discard these figures.
      if (!settings.quick) await writeResults(world, named);
    }
    printTable(findings, process.stdout);
  } finally {
    await close();
  }
}

async function booksMustAgree({ db }: World): Promise<void> {
  const { differences } = await audit(db);
  if (differences.length === 0) return;
  throw new Error(`The books do not add up: ${JSON.stringify(differences.slice(0, 3))}`);
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(130));
main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
