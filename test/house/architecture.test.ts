// The rules for the structure of the code: the imports of each group of files, code that a group
// must not contain, and the size of files. A new import between groups is a decision. Add the
// import to the table here, with a reason if the import changes the purpose of the group.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { circleIn, codeOf, filesIn, importsOf, read, root } from './sources';

interface Group {
  /**
   * The files and folders of the group, without endings. A star stands for the rest of a name.
   */
  readonly is: readonly string[];
  /** Our folders or files that the group may import. */
  readonly may: readonly string[];
  /**
   * Our folders or files that the group may import with `import type` only. Such an import does not
   * exist at run time.
   */
  readonly types?: readonly string[];
  /**
   * The packages that the group may import; absent if all are allowed. `node:` stands for all
   * modules of Node.
   */
  readonly packages?: readonly string[];
}

// Names in workflow histories. The code that writes histories and the code that reads them share
// these files.
const messages = ['workflows/messages', 'workflows/search-attributes'];
const studioBase = ['studio/http', 'studio/protocol-error'];
const httpPackages = ['koa', '@koa/router', '@fastify/busboy', 'knex', 'lru-cache', 'node:'];

// The things of the service. Each may import those before it. Money is near the end, because the two
// statements that move the money of a task contain those that end its jobs, files and callbacks.
const things = [
  'accounts',
  'operators',
  'catalogue',
  'planning',
  'files',
  'jobs',
  'callbacks',
  'tasks',
  'money',
].map((thing) => `src/${thing}`);
// What every thing may import besides.
const beneath = [
  'src/assert',
  'src/owed',
  'src/contract',
  'src/outbound',
  'src/database',
  'src/telemetry/trace.rules',
];

const groups: Readonly<Record<string, Group>> = {
  assert: { is: ['src/assert'], may: [], packages: [] },
  contract: {
    is: ['src/contract'],
    may: [],
    packages: ['zod', 'zod-openapi', 'jsonc-parser', 'secure-json-parse'],
  },
  ...Object.fromEntries(
    things.map((thing, at) => [
      thing,
      {
        is: [thing],
        may: [...beneath, 'src/encryption', ...things.slice(0, at), 'src/gateway'],
        // A type does not exist at run time, so a rule may name the type of a later thing.
        types: [...things, 'src/config', 'src/engine'],
      },
    ]),
  ),
  workflows: {
    is: ['workflows'],
    may: ['src/contract/vocabulary', ...things.map((thing) => `${thing}/*.rules`)],
    types: ['src/contract', 'activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  database: {
    is: ['src/database'],
    may: ['src/assert', 'src/encryption', 'src/contract/vocabulary'],
    types: ['src/contract'],
    packages: ['knex', 'pg', 'dataloader', 'node:'],
  },
  // The loop that does what rows owe. The duties are in `activities/owed` and in the things.
  owed: { is: ['src/owed'], may: ['src/database'], packages: ['knex', 'node:'] },
  encryption: { is: ['src/encryption'], may: [], packages: ['node:'] },
  // Guarded requests to addresses that callers and providers chose.
  outbound: { is: ['src/outbound'], may: ['src/assert'], packages: ['node:'] },
  activities: {
    is: ['activities'],
    may: [...beneath, ...things, ...messages],
    types: ['src/config'],
  },
  // The code that calls Temporal: connection, setup, start of workflows, payload codec and worker.
  engine: {
    is: ['src/engine'],
    may: [
      ...['src/assert', 'src/contract', 'src/encryption', 'src/telemetry', 'src/embedded/ports'],
      ...[...messages, 'activities', 'src/jobs/watchers.rows'],
    ],
    types: ['workflows', ...things],
  },
  // The frame of HTTP. Only the app and the shapes know the routes of the things.
  gateway: {
    is: ['src/gateway'],
    may: [...beneath, ...things, ...messages],
    types: ['src/engine', 'src/config'],
    packages: [...httpPackages, '@modelcontextprotocol/server', 'swagger-ui-dist'],
  },
  // The admin API runs the commands of the command line. It is no part of the public API.
  console: {
    is: ['src/console'],
    may: [
      ...beneath,
      ...things,
      ...['admin', 'admin/carry-out', 'admin/command-line', 'admin/values'].map(
        (file) => `src/commands/${file}`,
      ),
      ...['auth', 'body', 'context', 'limits', 'page-file', 'page-files', 'query'].map(
        (file) => `src/gateway/${file}`,
      ),
    ],
    types: ['src/telemetry/logger', 'src/telemetry/meters'],
    packages: ['koa', 'node:'],
  },
  config: { is: ['src/config'], may: [], packages: ['zod', 'node:'] },
  telemetry: { is: ['src/telemetry'], may: [], types: things },
  // The studio is a separate program in layers. It shares only the guard of requests to callers' addresses.
  'studio jobs': { is: ['studio/jobs'], may: studioBase },
  'studio media': {
    is: ['studio/media'],
    may: [...studioBase, 'studio/jobs', 'src/outbound'],
  },
  'studio rendering': {
    is: ['studio/rendering'],
    may: [...studioBase, 'studio/jobs', 'studio/media'],
  },
  'studio protocol': {
    is: ['studio/protocol'],
    may: [...studioBase, 'studio/jobs', 'studio/media'],
  },
  studio: {
    is: ['studio/server', 'studio/compose', 'studio/routes', ...studioBase],
    may: ['studio'],
  },
  embedded: { is: ['src/embedded'], may: [] },
  // Commands assemble processes, so commands may import nearly everything.
  commands: { is: ['src/commands'], may: ['src', 'studio', 'activities', ...messages] },
  'dev stack': {
    is: ['src/dev-stack'],
    may: [
      ...['src/assert', 'src/commands', 'src/config', 'src/database', 'src/embedded', ...things],
      'src/outbound/address.rules',
      'workflows/search-attributes',
    ],
  },
  main: {
    is: ['src/main'],
    may: ['src/commands', 'src/dev-stack', 'src/config', 'src/telemetry'],
    packages: [],
  },
};

const sources = ['src', 'studio', 'workflows', 'activities'].flatMap((folder) =>
  filesIn(folder, '.ts'),
);
const withoutEnding = (path: string) => path.replace(/\.ts$/, '');
const starred = (place: string) =>
  new RegExp(`^${place.replaceAll('.', '\\.').replace('*', '.*')}$`);
const lies = (path: string, place: string) =>
  place.includes('*') ? starred(place).test(path) : path === place || path.startsWith(`${place}/`);
const liesInOne = (path: string, places: readonly string[]) =>
  places.some((place) => lies(path, place));
const groupsOf = (path: string) =>
  Object.entries(groups).filter(([, { is }]) => liesInOne(withoutEnding(path), is));

describe('the table of imports between groups of files', () => {
  test('every source file is in exactly one group', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((path) => groupsOf(path).length !== 1)).toEqual([]);
  });

  test('every path in the table exists', () => {
    const named = Object.values(groups).flatMap(({ may, types = [] }) => [...may, ...types]);
    const isThere = (place: string) =>
      existsSync(join(root, place)) || existsSync(join(root, `${place}.ts`));
    expect(named.filter((place) => !place.includes('*') && !isThere(place))).toEqual([]);
  });

  test.each(Object.keys(groups))('the group "%s" has no forbidden import', (name) => {
    expect(forbiddenIn(name)).toEqual([]);
  });
});

type Kind = 'rules' | 'rows' | 'routes' | 'http' | 'effect';
const kindOf = (path: string) =>
  (/\.(rules|rows|routes|http)(\.ts)?$/.exec(path)?.[1] ?? 'effect') as Kind;
const ofKind = (kind: Kind) => sources.filter((path) => kindOf(path) === kind);
const isThing = (path: string) => liesInOne(path, things);
/** The value imports of our own files that the test does not allow. */
const valuesFrom = (paths: readonly string[], isAllowed: (target: string) => boolean) =>
  paths.flatMap((path) =>
    importsOf(path)
      .filter(({ target, isOurs, isType }) => isOurs && !isType && !isAllowed(target))
      .map(({ target }) => `${path} → ${target}`),
  );

describe('the ending of a file says its kind', () => {
  test('rules have no clock, no randomness, no input and no output', () => {
    const impure = /Date\.now|new Date\(\)|Math\.random|setTimeout|console\.|\bfetch\(|\bprocess\b/;
    const rules = ofKind('rules');
    expect(rules.length).toBeGreaterThan(30);
    expect(rules.filter((path) => impure.test(codeOf(path)))).toEqual([]);
    const packages = rules.flatMap((path) =>
      importsOf(path).flatMap(({ target, isOurs, isType }) => (isOurs || isType ? [] : [target])),
    );
    // `node:net` has the list of address ranges, which does no I/O.
    expect([...new Set(packages)]).toEqual(['node:net']);
  });

  test('rules import only rules and the contract', () => {
    const isAllowed = (target: string) =>
      kindOf(target) === 'rules' || liesInOne(target, ['src/assert', 'src/contract']);
    expect(valuesFrom(ofKind('rules'), isAllowed)).toEqual([]);
  });

  test('rows import only rows, rules, the contract and the database', () => {
    const isAllowed = (target: string) =>
      ['rows', 'rules'].includes(kindOf(target)) ||
      liesInOne(target, ['src/assert', 'src/contract', 'src/database']);
    expect(ofKind('rows').length).toBeGreaterThan(30);
    expect(valuesFrom(ofKind('rows'), isAllowed)).toEqual([]);
  });

  test('only routes and their parts know HTTP', () => {
    const others = sources.filter(
      (path) => isThing(path) && !['routes', 'http'].includes(kindOf(path)),
    );
    expect(valuesFrom(others, (target) => !lies(target, 'src/gateway'))).toEqual([]);
  });

  test('the frame of HTTP knows no route of a thing', () => {
    const composing = ['src/gateway/app', 'src/gateway/fast-path', 'src/gateway/shapes'];
    const frame = sources.filter(
      (path) => lies(path, 'src/gateway') && !liesInOne(withoutEnding(path), composing),
    );
    // The faults of the storage have their answers, and the frame counts uploads.
    const known = ['src/files/storage/storage', 'src/files/read-upload.http'];
    const isAllowed = (target: string) =>
      !isThing(target) || ['rows', 'rules'].includes(kindOf(target)) || known.includes(target);
    expect(valuesFrom(frame, isAllowed)).toEqual([]);
  });
});

test('no files import each other in a circle, and type imports count too', () => {
  const files = [...sources, ...filesIn('bench', '.ts'), ...filesIn('test', '.ts')];
  expect(
    circleIn(
      new Map(
        files.map((path) => [withoutEnding(path), importsOf(path).map(({ target }) => target)]),
      ),
    ),
  ).toEqual([]);
});

test('the search for circular imports finds a circle, and omits files that are not in the circle', () => {
  const imports = { a: ['b'], b: ['c'], c: ['d', 'b'], d: [] };
  expect(circleIn(new Map(Object.entries(imports)))).toEqual(['b', 'c']);
});

describe('the parser of imports', () => {
  test.each([
    ['src/commands/api.ts', 'src/gateway/app', false],
    ['src/engine/worker.ts', '@temporalio/worker', false],
    ['src/main.ts', 'src/commands/worker', false],
    ['src/main.ts', 'src/commands/worker', true],
    ['src/gateway/deps.ts', 'src/engine/client', true],
    ['workflows/index.ts', 'workflows/generate-video', false],
  ])('reads %s and finds the import of %s', (path, target, isType) => {
    expect(importsOf(path)).toContainEqual(expect.objectContaining({ target, isType }));
  });
});

describe('modules that a process loads', () => {
  test.each([
    ['api', 'koa', '@temporalio/worker'],
    ['worker', '@temporalio/worker', 'koa'],
    ['studio', 'sharp', 'knex'],
  ])('the process %s loads %s and never %s', (command, needed, never) => {
    const packages = packagesLoadedBy(`src/commands/${command}.ts`);
    expect(packages).toContain(needed);
    expect(packages).not.toContain(never);
  });
});

const protocolTables = ['activities/providers/protocols.ts', 'studio/protocol/faces.ts'];

describe.each([
  ['the service', 'activities/providers', protocolTables[0]],
  ['the studio', 'studio/protocol', protocolTables[1]],
])('the protocols of %s', (_, folder, table) => {
  const isInFolder = (path: string) => path.startsWith(`${folder}/`);
  const protocolIn = (path: string) =>
    isInFolder(path) ? path.slice(folder.length + 1).match(/^([\w-]+)\//)?.[1] : undefined;
  const names = new Set(sources.flatMap((path) => protocolIn(path) ?? []));

  test('are folders that only the table imports', () => {
    expect(names.size).toBeGreaterThan(1);
    const importing = sources.filter((path) =>
      importsOf(path).some(({ target }) => {
        const name = protocolIn(target);
        return name !== undefined && name !== protocolIn(path);
      }),
    );
    expect(importing).toEqual([table]);
  });

  test('are named by no other file, but for the forms of callers in the contract and the settings', () => {
    const quoted = new RegExp(`['"\`](${[...names].join('|')})['"\`]`);
    const others = sources.filter(
      (path) =>
        /^(activities|workflows|src\/(?!config|contract))/.test(path) &&
        !protocolTables.includes(path),
    );
    expect(others.filter((path) => quoted.test(codeOf(path)))).toEqual([]);
  });
});

// Files that read the environment or pass it on. All other files get settings from src/config.
const readersOfTheEnvironment = {
  'src/main.ts': 'passes the environment to the reader of settings',
  'bench/world.ts': 'passes the environment to the measured processes',
  'bench/bare/bare.ts': 'reports how Node was started',
  'bench/bare/server.ts': 'the bare reference, which has no settings',
  'bench/bare/worker.ts': 'the bare reference, which has no settings',
  'scripts/freeze.mjs': 'passes the environment to the test runner',
  'scripts/lib/local-engine.mjs': 'adds what finds the container engine of a test',
  'scripts/lib/run.mjs': 'passes the environment to its tools',
  'scripts/running.mjs': 'reads DATA_DIR itself, because the reader of settings may not be built',
  'scripts/screenshots.mjs': 'passes the environment to the stack, and finds the browser',
  'scripts/test.mjs': 'passes the environment to the test runner',
};

describe('rules for all code', () => {
  const code = [...sources, ...filesIn('bench', '.ts'), ...filesIn('scripts', '.mjs')];
  const everywhere = [...code, ...filesIn('test', '.ts'), ...filesIn('public', '.js')];
  const where = (files: readonly string[], pattern: RegExp) =>
    files.filter((path) => pattern.test(codeOf(path))).sort();

  test('only the listed files read the environment', () => {
    expect(where(code, /\bprocess\.env\b/)).toEqual(Object.keys(readersOfTheEnvironment).sort());
  });

  test('a value of a provider becomes a text only in http-exchange.ts', () => {
    const files = filesIn('activities/providers', '.ts').filter(
      (path) => !path.endsWith('/body.ts'),
    );
    expect(where(files, /=== 'string'|\bas string\b/)).toEqual([
      'activities/providers/http-exchange.ts',
    ]);
    expect(where(files, /textOf\([^;]*?\)\??\.(slice|substring)\(|String\(field\(/)).toEqual([]);
  });

  test('queries are read in one pass, and not by the parser of Koa', () => {
    const koa = /\b(ctx|request)\.query\b|\{[^{}]*\bquery\b[^{}]*\} = ctx\b/;
    expect(where(sources, koa)).toEqual([]);
    expect(where(sources, /\bqueryOf\(ctx\)/).length).toBeGreaterThan(5);
  });

  test('only the setup files of jest have a default export', () => {
    expect(where(everywhere, /^export default /m)).toEqual([
      'test/support/cluster-setup.ts',
      'test/support/global-setup.ts',
      'test/support/global-teardown.ts',
    ]);
  });

  test('only main and the reaper handle signals, read the arguments and exit the process', () => {
    expect(where(sources, /\bprocess\.(exit\(|on\(['"]SIG|argv)/)).toEqual([
      // The reaper is a separate program. It outlives its parent, and stops the processes that the
      // parent left behind.
      'src/embedded/reaper.ts',
      'src/main.ts',
    ]);
  });

  test('only the ledger writes to the tables of the ledger', () => {
    const writing = /(?:insert into|update|delete from)\s+(?:transfers|balances)\b/i;
    expect(where(sources, writing)).toEqual([
      // Moves no money: it counts the tasks whose holds are not taken yet.
      'src/accounts/pending-sums.rows.ts',
      'src/money/ledger.rows.ts',
    ]);
  });

  test('only src/jobs and the end of keeping write to the table jobs', () => {
    const writing = /(?:insert into|update|delete from)\s+jobs\b/i;
    const writers = where(sources, writing);
    expect(writers.length).toBeGreaterThan(0);
    expect(writers.filter((path) => !path.startsWith('src/jobs/'))).toEqual([
      'src/tasks/forget.rows.ts',
    ]);
  });
});

describe('code files', () => {
  const every = filesIn('.', '.ts', '.js', '.mjs').filter((path) => !path.includes('/vendor/'));

  test('have names of lower-case letters, digits, hyphens and dots', () => {
    const name = /(^|\/)[a-z\d]+([-.][a-z\d]+)*\.(ts|js|mjs)$/;
    expect(every.filter((path) => !name.test(path))).toEqual([]);
  });
});

// Files that are longer than the limit, each with its reason.
const longFiles: Readonly<Record<string, string>> = {
  'src/database/schema.ts': 'one person reads the data model from top to bottom',
  'src/telemetry/metrics.ts': 'one list of all metrics',
};

describe('sizes of code files', () => {
  const linesMax = 250;
  const code = [
    ...sources,
    ...filesIn('bench', '.ts'),
    ...filesIn('scripts', '.mjs'),
    ...filesIn('public', '.js'),
  ];
  // Lines of comments are not counted, so that the limit does not shorten explanations.
  const linesOf = (path: string) =>
    read(path)
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)).length - 1;

  test(`no file has more than ${linesMax} lines of code, except the listed files`, () => {
    const long = code.filter((path) => linesOf(path) > linesMax).sort();
    expect(long).toEqual(Object.keys(longFiles).sort());
  });
});

test('every test file with two sizes belongs to the long run', () => {
  const { projects } = require('../../jest.config.js') as {
    projects: { displayName: string; testMatch: string[] }[];
  };
  const inLongRun = projects
    .find(({ displayName }) => displayName === 'long')
    ?.testMatch.filter((pattern) => !pattern.includes('*'))
    .map((pattern) => pattern.replace('<rootDir>/', ''));
  const withSizes = filesIn('test', '.test.ts').filter((path) =>
    /\/support\/sized'/.test(read(path)),
  );
  expect(inLongRun?.sort()).toEqual(withSizes.sort());
});

function forbiddenIn(name: string): string[] {
  const { is, may, types = [], packages } = groups[name] as Group;
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

/** Returns all packages that the entry loads by value imports, directly or indirectly. */
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
