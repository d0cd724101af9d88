// Two projects: `fast` needs no server and takes seconds, `stack` runs against a real PostgreSQL
// and a real Temporal that are started once for the whole run.
const common = {
  // All projects transform the sources alike, so they share the results.
  id: 'tests',
  testEnvironment: '<rootDir>/test/support/jest/environment.js',
  runtime: '<rootDir>/test/support/jest/runtime.js',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
};

const withServers = {
  ...common,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

// Scenarios with a second, larger size, which `npm run test:long` runs (test/support/sized.ts).
const sized = [
  ...['money/billing', 'callbacks/guarded-post', 'jobs/hostile-answers', 'jobs/placed-once'].map(
    (name) => `activities/${name}`,
  ),
  ...[
    'clocks',
    'crash-points',
    'file-faults',
    'floods',
    'kills',
    'links',
    'lost-messages',
    'stopping',
  ].map((name) => `chaos/${name}`),
  ...['away', 'callbacks', 'changed-catalogue', 'many-starters', 'one-key', 'reads'].map(
    (name) => `system/${name}`,
  ),
  ...[
    'console/states',
    'studio/video-files',
    'gateway/hostile',
    'gateway/rates',
    'money/ledger.bank',
    'money/ledger.killed',
    'embedded/outage',
  ],
];

const fastFolders = ['house', 'contract', 'config', 'catalogue', 'scripts', 'engine'];
const fast = [
  ...fastFolders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
  '<rootDir>/test/**/*.rules.test.ts',
];

module.exports = {
  projects: [
    { ...common, displayName: 'fast', testMatch: fast },
    {
      ...withServers,
      displayName: 'stack',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        `<rootDir>/test/(${[...fastFolders, 'long', 'clients', 'deploy', 'cluster', 'containers'].join('|')})/`,
        '\\.rules\\.test\\.ts$',
      ],
    },
    // The tests of activities and workflows once more, with their statements counted
    // (scripts/lib/coverage.mjs). Counting takes a quarter more processor time, so it is a run of its own.
    {
      ...withServers,
      displayName: 'coverage',
      testMatch: ['activities', 'workflows', 'system'].map(
        (folder) => `<rootDir>/test/${folder}/**/*.test.ts`,
      ),
      testPathIgnorePatterns: ['/node_modules/', '\\.rules\\.test\\.ts$'],
    },
    // Not part of every run: the same guarantees at larger sizes, foreign clients that have to be
    // fetched, and what is deployed.
    ...['long', 'clients', 'deploy'].map((folder) => ({
      ...withServers,
      displayName: folder,
      testMatch: [
        `<rootDir>/test/${folder}/**/*.test.ts`,
        ...(folder === 'long' ? sized.map((name) => `<rootDir>/test/${name}.test.ts`) : []),
      ],
      globals: { isLongRun: folder === 'long' },
    })),
    // Writes what a release freezes (scripts/freeze.mjs).
    {
      ...withServers,
      displayName: 'freeze',
      testMatch: ['<rootDir>/test/releases/freeze.ts'],
    },
    // docker-compose.yml on a container engine. The engine runs all servers.
    {
      ...common,
      displayName: 'containers',
      testMatch: ['<rootDir>/test/containers/**/*.test.ts'],
    },
    // The same processes on a Temporal cluster, which each file starts for itself.
    {
      ...common,
      displayName: 'cluster',
      testMatch: ['<rootDir>/test/cluster/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/cluster-setup.ts',
    },
  ],
  // A worker keeps memory of its largest files. A new one has less to search for garbage.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/support/mixed-order.js',
  // Long enough for a liveness limit with margin on a busy machine; nothing asserts speed.
  testTimeout: 180_000,
};
