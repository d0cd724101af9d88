// Runs the shell blocks of the pages for operators and of README.md, as they stand in the pages, in a copy of
// the project.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { blocksOf } from '../support/markdown';

const project = resolve(__dirname, '../..');
const named = ['docs/operations.md', 'docs/symptoms.md', 'README.md', 'deploy/helm/README.md'];
const pages = named.map((name) => readFileSync(join(project, name), 'utf8'));
const blocks = pages.flatMap(blocksOf);
const copied = [
  '.gitignore',
  ...['package.json', 'package-lock.json', '.npmrc', '.dockerignore', 'Dockerfile', 'LICENSE'],
  ...['tsconfig.json', 'tsconfig.build.json', 'catalogue.yaml', 'catalogue.ark.yaml'],
  ...['docker-compose.yml', 'deploy', 'ops', 'scripts', 'src', 'studio', 'workflows', 'activities'],
  'public',
];

export interface Copy {
  readonly folder: string;
  /** Runs shell text in the copy, and returns what it wrote. */
  sh(text: string, withinMs?: number): Promise<string>;
  /** Makes the next commit of the copy, and returns the tag of its image. */
  commit(): Promise<string>;
}

// An image is named after the commit of its folder.
const commit = `
  [ -d .git ] || { git init -q; git add .; }
  git -c user.name=test -c user.email=test@example.com commit -q --allow-empty -m next
  git describe --always --dirty`;

export function copyOfProject(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'video-containers-'));
  for (const name of copied) {
    cpSync(join(project, name), join(folder, name), { recursive: true });
  }
  const env = { ...process.env, COMPOSE_PROJECT_NAME: 'video-containers-test' };
  const sh = async (text: string, timeout = 600_000) => {
    const options = { cwd: folder, env, timeout, maxBuffer: 2 ** 26 };
    const { stdout } = await promisify(execFile)('bash', ['-euc', text], options);
    return stdout;
  };
  return { folder, sh, commit: () => sh(commit).then((tag) => tag.trim()) };
}

/** The only shell block of the pages with this text; some words of it may be replaced. */
export function blockWith(text: string, replaced: Readonly<Record<string, string>> = {}): string {
  const found = blocks.filter((one) => one.language === 'sh' && one.text.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks of the pages contain "${text}".`);
  return Object.entries(replaced).reduce(
    (all, [from, to]) => {
      if (!all.includes(from)) throw new Error(`The block does not contain "${from}".`);
      return all.replace(from, to);
    },
    withoutTerminal(found[0]?.text ?? ''),
  );
}

/** The only command with this text in the sentences of the pages. */
export function inlineWith(text: string): string {
  const commands = pages.flatMap((page) =>
    [...page.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`(docker [^`]+)`/g)].map(
      ([, one = '']) => one,
    ),
  );
  const found = new Set(commands.filter((one) => one.includes(text)));
  if (found.size !== 1) throw new Error(`${found.size} commands of the pages contain "${text}".`);
  return withoutTerminal([...found][0] ?? '');
}

/** A test has no terminal to give to a container. */
function withoutTerminal(block: string): string {
  return block.replaceAll('docker compose run --rm ', 'docker compose run --rm -T ');
}
