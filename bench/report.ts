// Prints the findings as a table and writes them to bench/results.json. The file also names the
// machine of the last run, and for each finding its time and versions.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { projectFolder } from '../src/commands/package-info';
import type { Finding } from './row';
import type { World } from './world';

export function printTable(findings: readonly Finding[], out: NodeJS.WritableStream): void {
  const header = ['figure', 'ours', 'reference', 'ratio', 'spread', 'wanted', ''];
  const lines = [header, ...findings.map(cellsOf)];
  const widths = header.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  for (const cells of lines) {
    out.write(`${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`);
  }
  for (const { figure, note } of findings) if (note) out.write(`  ${figure}: ${note}\n`);
}

function cellsOf(finding: Finding): string[] {
  const { figure, unit, ours, reference, spread, wanted, met } = finding;
  return [
    figure,
    `${shown(ours)} ${unit}`,
    reference === undefined ? '–' : `${shown(reference)} ${unit}`,
    reference ? (ours / reference).toFixed(2) : '–',
    spread ? `${spread[0].toFixed(2)}–${spread[1].toFixed(2)}` : '–',
    wanted ?? '–',
    met === undefined ? '' : met ? 'yes' : 'NO',
  ];
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export async function writeResults(
  world: World,
  findings: readonly (Finding & { readonly row: string })[],
): Promise<void> {
  const file = join(projectFolder(), 'bench', 'results.json');
  const kept = keptFindings(file).filter(({ row }) => !findings.some((one) => one.row === row));
  const at = new Date().toISOString();
  const run = { at, rounds: world.settings.rounds, ...(await versionsOf(world)) };
  const results = {
    machine: machineOf(),
    findings: [...kept, ...findings.map((finding) => ({ ...finding, run }))],
  };
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}

/** The findings of the previous runs. A benchmark that is not run again keeps its findings. */
function keptFindings(file: string): { row: string }[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { findings: { row: string }[] }).findings;
  } catch {
    return [];
  }
}

function machineOf() {
  const all = cpus();
  return {
    cores: all.length,
    cpu: all[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
  };
}

async function versionsOf({ pool, connection }: World) {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const folder = projectFolder();
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return {
    node: process.versions.node,
    postgres: rows[0]?.server_version,
    temporal: serverVersion,
    temporalSdk: dependencies['@temporalio/client'],
    commit: commitOf(folder),
  };
}

/** The commit; with `-dirty` if files besides the results differ from it. */
function commitOf(folder: string): string {
  try {
    const git = (...words: string[]) =>
      execFileSync('git', words, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    const others = ['status', '--porcelain', '--untracked-files=no', '--', '.'];
    const changed = git(...others, ':!bench/results.json');
    return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : '-dirty'}`;
  } catch {
    return 'unknown';
  }
}
