// The documents, held against what they speak of: settings, routes, scripts, paths and links. After
// a change of settings, UPDATE_DOCUMENTS=1 npx jest --selectProjects fast -- test/house/documents
// writes their tables anew.

import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type SettingRow, settingRows } from '../../src/config';
import { createOpenApiDocument } from '../../src/contract/openapi';
import { accountSchema, createdSchema, taskSchema } from '../../src/contract/reply-schema';
import { codeOf, filesIn, read, root } from './sources';

const documents = filesIn('.', '.md').filter((path) => !path.startsWith('public/vendor/'));
const readme = read('README.md');
/** Outside of code blocks and code spans, where links are links. */
const proseOf = (path: string) =>
  read(path)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');

const marked = /(<!-- settings: begin -->\n)([\s\S]*?)(<!-- settings: end -->)/;
const tableIn = (path: string) => marked.exec(read(path))?.[2]?.trim() ?? '';

describe('the tables of settings', () => {
  test('docs/settings.md has the one the service has', () => {
    expectTable('docs/settings.md', settingTable(settingRows()));
  });

  test('README shows some rows of it', () => {
    const shown = [...tableIn('README.md').matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name);
    const rows = settingRows().filter(({ name }) => shown.includes(name));
    expect(rows.map(({ name }) => name)).toEqual(shown);
    expect(rows.length).toBeGreaterThan(5);
    expectTable('README.md', settingTable(rows));
  });
});

describe('README', () => {
  test('is short, and every page of docs/ is one click away', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(201);
    const linked = [...readme.matchAll(/\]\((docs\/[\w-]+\.md)[)#]/g)].map(([, path]) => path);
    expect(filesIn('docs', '.md').filter((path) => !linked.includes(path))).toEqual([]);
  });

  test('its table of requests is what the service documents, one of the two spellings', () => {
    const told = [...readme.matchAll(/^\| `((?:GET|POST|PUT|DELETE) \/\S*)` /gm)].map(
      ([, at = '']) => at,
    );
    const { paths } = createOpenApiDocument({ version: '0', publicUrl: 'http://x' }) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => /^(get|post|put|delete)$/.test(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    // A task without its id is an error of the caller's, and the second spelling is told below the
    // table.
    const silent = /^(GET|DELETE) \/v1\/videos\/generations$|\/v1\/video\//;
    expect(told.sort()).toEqual(documented.filter((at) => !silent.test(at)).sort());
  });

  test('its answers have the shape of real ones', () => {
    const answers = [...readme.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) =>
      JSON.parse(text),
    );
    const shapes = [createdSchema, taskSchema, accountSchema];
    expect(answers).toHaveLength(shapes.length);
    shapes.forEach((shape, at) => {
      expect(shape.safeParse(answers[at])).toMatchObject({ success: true });
    });
  });

  test('every room it shows is there, and none is left out', () => {
    const rooms = [...readme.matchAll(/^\| `([\w/]+\/)` /gm)].map(([, room = '']) => room);
    expect(rooms.length).toBeGreaterThan(10);
    expect(rooms.filter((room) => !existsSync(join(root, room)))).toEqual([]);
    const shown = filesIn('.', '.ts').map(
      (path) => /^(src\/[\w-]+|[\w-]+)\//.exec(path)?.[1] ?? '',
    );
    const unsaid = [...new Set(shown)].filter((room) => !/^(src|)$/.test(room));
    expect(unsaid.filter((room) => !rooms.includes(`${room}/`))).toEqual([]);
  });
});

describe.each(documents)('%s', (path) => {
  const text = read(path);

  test('leads nowhere that is not there', () => {
    const links = [...proseOf(path).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
      .map(([, link, source]) => link ?? source ?? '')
      .filter((link) => !/^(https?|mailto):/.test(link));
    expect(links.filter((link) => !leadsSomewhere(path, link))).toEqual([]);
  });

  test('names no script that is not there', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?)?([a-z]+(?::[a-z]+)?)\b/g)]
      .filter(([whole, name = '']) => whole.startsWith('npm run') || /^(start|test)$/.test(name))
      .map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test('names no file that is not there', () => {
    expect(pathsIn(text).filter((named) => !isThere(named, path))).toEqual([]);
  });
});

describe('CHANGELOG.md', () => {
  test('keeps a place for what is not released yet', () => {
    expect(read('CHANGELOG.md')).toMatch(/^## \[?Unreleased\]?$/m);
  });
});

function expectTable(path: string, wanted: string): void {
  if (process.env.UPDATE_DOCUMENTS) {
    writeFileSync(join(root, path), read(path).replace(marked, `$1\n${wanted}\n\n$3`));
  }
  // To write it anew: UPDATE_DOCUMENTS=1 npx jest --selectProjects fast -- test/house/documents
  expect(tableIn(path)).toBe(wanted);
}

function settingTable(settings: readonly SettingRow[]): string {
  const rows = settings.map(({ name, otherwise, sentence, secret }) => [
    `\`${name}\``,
    otherwise === '' ? '' : `\`${otherwise}\``,
    `${sentence.replaceAll('|', '\\|')}${secret ? ' **Secret.**' : ''}`,
  ]);
  // In columns, as the formatter leaves it.
  const head = ['setting', 'otherwise', 'what it is'];
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...rows]
    .map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`)
    .join('\n');
}

function leadsSomewhere(from: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || !target.endsWith('.md') || headingsOf(target).has(heading);
}

/** As they are linked to: lower case, without punctuation, blanks as hyphens. */
function headingsOf(path: string): Set<string> {
  const headings = read(path).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

/**
 * What stands in backticks and begins with a folder of ours, or is a file at the top that has an
 * ending of ours.
 */
function pathsIn(text: string): string[] {
  const folders = 'src|workflows|activities|test|bench|public|docs|scripts|ops|examples|\\.github';
  const pattern = new RegExp(
    `^(?:\\./)?((?:${folders})/[\\w./*-]*|[\\w.-]+\\.(?:md|ya?ml|json|ts))(?::\\d+)?$`,
  );
  return [...text.matchAll(/`([^`\n]+)`/g)].flatMap(
    ([, span = '']) => pattern.exec(span)?.[1] ?? [],
  );
}

function isThere(named: string, document: string): boolean {
  if (named.includes('*') || madeWhileRunning.has(named)) return true;
  const places = [named, `${named}.ts`, join(dirname(document), named)];
  if (places.some((place) => existsSync(join(root, place)))) return true;
  // A file by its name alone, inside a room that the sentence is about.
  return !named.includes('/') && everyFile().some((path) => path.endsWith(`/${named}`));
}

const madeWhileRunning = new Set(['dev.json']);

let every: string[] | undefined;
function everyFile(): string[] {
  every ??= filesIn('.', '.ts', '.json', '.md', '.yaml', '.yml', '.js', '.mjs');
  return every;
}

test('the table is looked for where settings are read', () => {
  expect(codeOf('src/config.ts')).toContain('export function settingRows');
});
