// The law of the house, executed: which room may import which, what never happens in a room, and
// how large a file may be. A new arrow is a decision: write it into the table here, with its reason
// where the room's character changes.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, filesIn, importsOf, read, root } from './sources';

interface Room {
  /**
   * Files and folders that make up the room, without endings; a star stands for the rest of a name.
   */
  readonly is: readonly string[];
  /** What of ours it may import, by folder or file. */
  readonly may: readonly string[];
  /**
   * What of ours it may import with `import type` only, so that nothing of it is left at run time.
   */
  readonly types?: readonly string[];
  /** Packages, where the room's character depends on them; `node:` stands for all of Node's own. */
  readonly packages?: readonly string[];
}

const words = 'src/contract/vocabulary';
// What a recorded name is called; shared by whoever writes histories and whoever reads them.
const messages = ['workflows/messages', 'workflows/search-attributes'];

const rooms: Readonly<Record<string, Room>> = {
  contract: {
    is: ['src/contract'],
    may: [],
    packages: ['zod', 'zod-openapi', 'secure-json-parse'],
  },
  domain: { is: ['src/domain'], may: [words], types: ['src/contract'], packages: [] },
  workflows: {
    is: ['workflows'],
    may: ['src/domain', words],
    types: ['src/contract', 'activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  db: {
    is: ['src/db'],
    may: ['src/domain', words],
    // The shapes that workflows hand over are stored as they are.
    types: ['src/contract', 'workflows/messages'],
    packages: ['knex', 'pg', 'dataloader', 'node:'],
  },
  activities: { is: ['activities'], may: ['src/contract', 'src/domain', 'src/db', ...messages] },
  // The API's side of the workflow engine.
  engine: {
    is: [
      'src/temporal',
      'src/engine-connection',
      'src/temporal-setup',
      'src/task-admission',
      'src/task-queries',
    ],
    may: ['src/contract', 'src/domain', ...messages],
    types: ['workflows'],
    packages: ['@temporalio/client', 'node:'],
  },
  api: {
    is: ['src/api'],
    may: ['src/contract', 'src/domain', 'src/db', ...messages],
    types: ['src/temporal'],
    packages: ['koa', '@koa/router', 'knex', 'swagger-ui-dist', 'node:'],
  },
  // Where the three task queues get their activities; the one room that puts both sides of the
  // engine together.
  'worker process': {
    is: ['src/worker-process'],
    may: ['activities', 'src/db', 'src/domain', 'src/temporal-setup'],
  },
  catalogue: {
    is: ['src/catalogue-faults', 'src/catalogue-file', 'src/catalogue-schema'],
    may: ['src/domain', words],
    packages: ['zod', 'yaml', 'node:'],
  },
  config: {
    is: ['src/config', 'src/setting-table', 'src/setting-kinds'],
    may: [],
    packages: ['zod'],
  },
  telemetry: {
    is: ['src/telemetry', 'src/metrics', 'src/meters', 'src/tracing'],
    may: [],
    types: ['src/domain'],
  },
  // A stand-in that shares the code it checks proves nothing.
  studio: { is: ['src/studio'], may: [] },
  embedded: { is: ['src/embedded'], may: [] },
  // Where parts are put together, so nearly everything; but the studio only as a process of its
  // own.
  commands: { is: ['src/commands'], may: ['src', 'activities', ...messages] },
  main: { is: ['src/main'], may: ['src/commands', 'src/config', 'src/telemetry'], packages: [] },
};

const sources = ['src', 'workflows', 'activities'].flatMap((folder) => filesIn(folder, '.ts'));
const withoutEnding = (path: string) => path.replace(/\.ts$/, '');
const lies = (path: string, place: string) =>
  place.endsWith('*')
    ? path.startsWith(place.slice(0, -1))
    : path === place || path.startsWith(`${place}/`);
const liesInOne = (path: string, places: readonly string[]) =>
  places.some((place) => lies(path, place));
const roomsOf = (path: string) =>
  Object.entries(rooms).filter(([, { is }]) => liesInOne(withoutEnding(path), is));

describe('rooms', () => {
  test('every source file is in exactly one room', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((path) => roomsOf(path).length !== 1)).toEqual([]);
  });

  test('every place the table names is there', () => {
    const named = Object.values(rooms).flatMap(({ may, types = [] }) => [...may, ...types]);
    const isThere = (place: string) =>
      existsSync(join(root, place)) || existsSync(join(root, `${place}.ts`));
    expect(named.filter((place) => !isThere(place))).toEqual([]);
  });

  test.each(Object.keys(rooms))('%s imports nothing it may not', (name) => {
    expect(forbiddenIn(name)).toEqual([]);
  });
});

describe('the reader of imports', () => {
  test.each([
    ['src/commands/api.ts', 'src/api/app', false],
    ['src/worker-process.ts', '@temporalio/worker', false],
    ['src/main.ts', 'src/commands/worker', false],
    ['src/main.ts', 'src/commands/worker', true],
    ['src/api/app.ts', 'src/temporal', true],
    ['workflows/index.ts', 'workflows/generate-video', false],
  ])('finds in %s the import of %s', (path, target, isType) => {
    expect(importsOf(path)).toContainEqual(expect.objectContaining({ target, isType }));
  });
});

describe('what a process loads', () => {
  test.each([
    ['api', 'koa', '@temporalio/worker'],
    ['worker', '@temporalio/worker', 'koa'],
    ['studio', 'sharp', 'knex'],
  ])('%s loads %s and never %s', (command, needed, never) => {
    const packages = packagesLoadedBy(`src/commands/${command}.ts`);
    expect(packages).toContain(needed);
    expect(packages).not.toContain(never);
  });
});

// Where an environment is read or handed on whole: settings come from src/config.ts and nowhere
// else.
const readersOfTheEnvironment = {
  'src/main.ts': 'hands it to the reader of settings',
  'bench/world.ts': 'hands it on to the processes it measures',
  'bench/bare/bare.ts': 'says in the report how Node was started',
  'bench/bare/server.ts': 'the bare reference, which has no settings',
  'bench/bare/worker.ts': 'the bare reference, which has no settings',
  'scripts/lib/run.mjs': 'hands it on to the tools it runs',
  'scripts/test.mjs': 'hands it on to the test runner',
};

describe('what never happens', () => {
  const code = [...sources, ...filesIn('bench', '.ts'), ...filesIn('scripts', '.mjs')];
  const everywhere = [...code, ...filesIn('test', '.ts'), ...filesIn('public', '.js')];
  const where = (files: readonly string[], pattern: RegExp) =>
    files.filter((path) => pattern.test(codeOf(path))).sort();

  test('nobody reads the environment but those who must', () => {
    expect(where(code, /\bprocess\.env\b/)).toEqual(Object.keys(readersOfTheEnvironment).sort());
  });

  test('nothing is exported as default, but where jest asks for it', () => {
    expect(where(everywhere, /^export default /m)).toEqual([
      'test/support/global-setup.ts',
      'test/support/global-teardown.ts',
    ]);
  });

  test('signals, arguments and the end of the process are met in main only', () => {
    expect(where(sources, /\bprocess\.(exit\(|on\(['"]SIG|argv)/)).toEqual([
      // A program of its own: it outlives whoever started it, to stop what that one left behind.
      'src/embedded/reaper.ts',
      'src/main.ts',
    ]);
  });

  test('the domain has no clock, no randomness and no output', () => {
    const domain = filesIn('src/domain', '.ts');
    const impure = /Date\.now|new Date\(\)|Math\.random|setTimeout|console\.|\bfetch\(|\bprocess\b/;
    expect(where(domain, impure)).toEqual([]);
  });

  test('nothing but the ledger writes to its tables', () => {
    const writing = /(?:insert into|update|delete from)\s+(?:transfers|entries|balances)\b/i;
    expect(where(sources, writing)).toEqual(['src/db/ledger.ts']);
  });
});

describe('files', () => {
  const every = filesIn('.', '.ts', '.js', '.mjs').filter((path) => !path.includes('/vendor/'));

  test('each has a name of small letters and hyphens', () => {
    const name = /(^|\/)[a-z\d]+([-.][a-z\d]+)*\.(ts|js|mjs)$/;
    expect(every.filter((path) => !name.test(path))).toEqual([]);
  });

  test('each begins by saying what it is', () => {
    expect(every.filter((path) => !/^(#!.*\n)?(\/\/ \S|\/\*)/.test(read(path)))).toEqual([]);
  });
});

// Longer than a file should be, each for a reason that outweighs it.
const longFiles: Readonly<Record<string, string>> = {};

describe('sizes', () => {
  const linesMax = 250;
  const code = [
    ...sources,
    ...filesIn('bench', '.ts'),
    ...filesIn('scripts', '.mjs'),
    ...filesIn('public', '.js'),
  ];
  const linesOf = (path: string) => read(path).split('\n').length - 1;

  test(`no source file is longer than ${linesMax} lines without a reason`, () => {
    const long = code.filter((path) => linesOf(path) > linesMax).sort();
    expect(long).toEqual(Object.keys(longFiles).sort());
  });
});

function forbiddenIn(name: string): string[] {
  const { is, may, types = [], packages } = rooms[name] as Room;
  const files = sources.filter((path) => liesInOne(withoutEnding(path), is));
  expect(files.length).toBeGreaterThan(0);
  return files.flatMap((path) =>
    importsOf(path)
      .filter(({ target, isOurs, isType }) => {
        if (isOurs) {
          const allowed = [...is, ...may, ...(isType ? types : [])];
          return !liesInOne(target, allowed);
        }
        return !isType && packages !== undefined && !packages.some((one) => isPackage(target, one));
      })
      .map(({ target, isType }) => `${path} → ${isType ? 'type ' : ''}${target}`),
  );
}

function isPackage(target: string, allowed: string): boolean {
  return allowed === 'node:' ? target.startsWith('node:') : lies(target, allowed);
}

/** All packages in the closure of value imports. */
function packagesLoadedBy(entry: string): string[] {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { target, isOurs, isType } of importsOf(path)) {
      if (isType) continue;
      if (!isOurs) packages.add(target);
      else visit(existsSync(join(root, `${target}.ts`)) ? `${target}.ts` : `${target}/index.ts`);
    }
  };
  visit(entry);
  return [...packages];
}
