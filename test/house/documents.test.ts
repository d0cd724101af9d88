// Compares the documents with the project: tables, routes, scripts, paths and links. After a
// change of what a table shows, this command writes it again:
// UPDATE_DOCUMENTS=1 npx jest --selectProjects fast -- test/house/documents

import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { settingRows } from '../../src/config/config';
import { createOpenApiDocument } from '../../src/contract/openapi';
import { accountSchema, createdSchema, taskSchema } from '../../src/contract/reply-schema';
import { schema } from '../../src/database/schema';
import { expectTable } from '../support/document-tables';
import { alertTable, errorTable, fieldTable, limitTable, settingTable } from './generated-tables';
import { filesIn, headingsOf, read, root } from './sources';

const documents = filesIn('.', '.md').filter((path) => !path.startsWith('public/vendor/'));
const readme = read('README.md');
/** Returns the text without code blocks and code spans, because a link inside code is no link. */
const proseOf = (path: string) =>
  read(path)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');

describe('the tables that a test writes', () => {
  test.each<[page: string, name: string, rows: () => readonly (readonly string[])[]]>([
    ['docs/settings.md', 'settings', settingTable],
    ['docs/api.md', 'fields', () => fieldTable('VideoRequest')],
    ['docs/api.md', 'metadata', () => fieldTable('VideoMetadata')],
    ['docs/api.md', 'super-resolution', () => fieldTable('SuperResolutionConfig')],
    ['docs/api.md', 'task', () => fieldTable('Task')],
    ['docs/api.md', 'result', () => fieldTable('VideoResult')],
    ['docs/api.md', 'errors', errorTable],
    ['docs/api.md', 'limits', limitTable],
    ['docs/symptoms.md', 'alerts', alertTable],
  ])('%s has the table %s', (page, name, rows) => {
    expect(rows().length).toBeGreaterThan(4);
    expectTable(page, name, rows());
  });

  test('README.md contains correct rows for the settings that it lists', () => {
    const shown = [...readme.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => name);
    const rows = settingRows().filter(({ name }) => shown.includes(name));
    expect(rows.map(({ name }) => name)).toEqual(shown);
    expect(rows.length).toBeGreaterThan(5);
    expectTable('README.md', 'settings', settingTable(rows));
  });
});

describe('README.md', () => {
  test('links every page of docs/', () => {
    const linked = [...readme.matchAll(/\]\((docs\/[\w-]+\.md)[)#]/g)].map(([, path]) => path);
    expect(filesIn('docs', '.md').filter((path) => !linked.includes(path))).toEqual([]);
  });

  test('lists only requests of the OpenAPI document', () => {
    const listed = [...readme.matchAll(/^\| `((?:GET|POST|PUT|DELETE) \/\S*)` /gm)].map(
      ([, at = '']) => at,
    );
    expect(listed.length).toBeGreaterThan(5);
    expect(listed.filter((request) => !requests().includes(request))).toEqual([]);
  });

  test('shows replies that fit the reply schemas', () => {
    const answers = [...readme.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) =>
      JSON.parse(text),
    );
    const shapes = [createdSchema, taskSchema, accountSchema];
    expect(answers).toHaveLength(shapes.length);
    shapes.forEach((shape, at) => {
      expect(shape.safeParse(answers[at])).toMatchObject({ success: true });
    });
  });

  test('has a complete table of folders', () => {
    const folders = [...readme.matchAll(/^\| `([\w/-]+\/)` /gm)].map(([, folder = '']) => folder);
    expect(folders.length).toBeGreaterThan(10);
    expect(folders.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
    const shown = filesIn('.', '.ts').map(
      (path) => /^(src\/[\w-]+|[\w-]+)\//.exec(path)?.[1] ?? '',
    );
    const unsaid = [...new Set(shown)].filter((folder) => !/^(src|)$/.test(folder));
    expect(unsaid.filter((folder) => !folders.includes(`${folder}/`))).toEqual([]);
  });
});

test('docs/api.md names every request of the OpenAPI document', () => {
  const page = read('docs/api.md').replaceAll(/\s+/g, ' ');
  const named = new Set(page.match(/(?:GET|POST|PUT|DELETE) \/[^\s`]*/g));
  expect(requests().filter((request) => !named.has(request))).toEqual([]);
});

/** The requests of the OpenAPI document, such as `GET /v1/models`. */
function requests(): string[] {
  const { paths } = createOpenApiDocument({ version: '0', publicUrl: 'http://x' }) as {
    paths: Record<string, Record<string, unknown>>;
  };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => /^(get|post|put|delete)$/.test(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

describe.each(documents)('the document %s', (path) => {
  const text = read(path);

  test('has only links to existing files and headings', () => {
    const links = [...proseOf(path).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
      .map(([, link, source]) => link ?? source ?? '')
      .filter((link) => !/^(https?|mailto):/.test(link));
    expect(links.filter((link) => !leadsSomewhere(path, link))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?)?([a-z]+(?::[a-z]+)?)\b/g)]
      .filter(([whole, name = '']) => whole.startsWith('npm run') || /^(start|test)$/.test(name))
      .map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test('names only files that exist', () => {
    expect(pathsIn(text).filter((named) => !isThere(named, path))).toEqual([]);
  });
});

test('each decision has a number of its own', () => {
  const numbers = [...read('docs/decisions.md').matchAll(/^## (\d+)\./gm)].map(
    ([, number]) => number,
  );
  expect(numbers.length).toBeGreaterThan(80);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('docs/sizing.md lists every table in its section about sizes', () => {
  const [, section = ''] = read('docs/sizing.md').split('## Size of each table\n');
  const [lines = ''] = section.split('\n## ');
  const listed = [...lines.matchAll(/^\| `(\w+)`/gm)].map(([, table]) => table);
  const made = [...schema.matchAll(/create table (?:if not exists )?(\w+)/g)].map(
    ([, table]) => table,
  );
  expect(made.length).toBeGreaterThan(10);
  expect(new Set(listed)).toEqual(new Set(['schema_migrations', ...made]));
});

function leadsSomewhere(from: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || !target.endsWith('.md') || headingsOf(target).has(heading);
}

/**
 * Returns paths in backticks. A path begins with one of our folders, or is a file name with a known
 * ending.
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
  // A file name without a path may be in any folder.
  return !named.includes('/') && everyFile().some((path) => path.endsWith(`/${named}`));
}

const madeWhileRunning = new Set(['dev.json']);

let every: string[] | undefined;
function everyFile(): string[] {
  every ??= filesIn('.', '.ts', '.json', '.md', '.yaml', '.yml', '.js', '.mjs');
  return every;
}
