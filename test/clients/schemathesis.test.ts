// A stranger's fuzzer against the served document: it makes requests up from the schema, and
// whatever it sends must be answered as the document says, never with a server error.

import { tmpdir } from 'node:os';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';
import { type Service, startService } from '../support/service';

// Fetched once; then as many examples as a few minutes allow.
jest.setTimeout(900_000);

const version = '4.32.5';
const examples = process.env.FUZZ_EXAMPLES ?? '40';
const python = hasTool('python3', '-m', 'pip', '--version');

let service: Service;
beforeAll(async () => {
  if (python) service = await startService({ settings: { unfinishedTasksMax: 1_000_000 } });
});
afterAll(() => service?.close());

(python ? test : test.skip)('no request made from the document meets a server error', async () => {
  const packages = await pythonPackage('schemathesis', version);
  const program = runProgram(
    'python3',
    [
      ...['-m', 'schemathesis.cli', 'run', `${service.url}/openapi.json`],
      ...['--url', service.url, '--header', `Authorization: Bearer ${service.apiKey}`],
      // The document's own examples wait for up to half a minute, as they ask to.
      ...[
        '--request-timeout',
        '90',
        '--max-examples',
        examples,
        '--phases',
        'examples,coverage,fuzzing',
        '--no-color',
      ],
      ...['--checks', 'not_a_server_error,status_code_conformance,content_type_conformance'],
      ...['--checks', 'response_schema_conformance', '--generation-database', 'none'],
    ],
    // It keeps notes in the folder it runs in.
    { cwd: tmpdir(), env: { ...definedEnvironment(), PYTHONPATH: packages } },
  );
  const code = await program.code;
  expect(`${code === 0 ? '' : program.out().slice(-6_000)}`).toBe('');
  expect(service.failures).toEqual([]);
});

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}
