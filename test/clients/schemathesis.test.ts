// Runs the fuzzer Schemathesis against the service. Schemathesis generates requests from the served
// OpenAPI document. Every answer must be documented, and no answer may be a server error.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';
import { type Service, startService } from '../support/service';

// Long enough to download the package on a new machine, and for a few minutes of requests.
jest.setTimeout(900_000);

const version = '4.32.5';
const examples = process.env.FUZZ_EXAMPLES ?? '100';
const python = hasTool('python3', '-m', 'pip', '--version');

let service: Service;
beforeAll(async () => {
  if (python) service = await startService({ settings: { queuedTasksMax: 1_000_000 } });
});
afterAll(() => service?.close());

(python ? test : test.skip)(
  'every answer to a generated request matches the OpenAPI document',
  async () => {
    const packages = await pythonPackage('schemathesis', version);
    const folder = await mkdtemp(join(tmpdir(), 'video-fuzz-'));
    await writeFile(join(folder, 'schemathesis.toml'), settings);
    const program = runProgram(
      'python3',
      [
        ...['-m', 'schemathesis.cli', '--config-file', 'schemathesis.toml'],
        ...['run', `${service.url}/openapi.json`, '--url', service.url, '--no-color'],
        // The document only lists the paths of these forms.
        ...['--exclude-tag', 'Other forms'],
        ...['--header', `Authorization: Bearer ${service.apiKey}`],
        ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', examples],
        // Some examples in the document ask the server to wait for up to half a minute.
        ...['--request-timeout', '90', '--max-response-time', '90'],
        // DELETE cancels a task, which can still be read. The check `use_after_free` expects a 404.
        ...['--checks', 'all', '--exclude-checks', 'use_after_free'],
        ...['--continue-on-failure', '--generation-database', 'none'],
      ],
      { cwd: folder, env: { ...definedEnvironment(), PYTHONPATH: packages } },
    );
    const code = await program.code;
    await rm(folder, { recursive: true, force: true });
    expect(`${code === 0 ? '' : program.out().slice(-20_000)}`).toBe('');
    expect(service.failures).toEqual([]);
  },
);

const settings = `
# Methods that no path has. GET and DELETE are left out: without the id of a task they get a 400.
[phases.coverage]
unexpected-methods = ["PUT", "PATCH", "TRACE"]

# What is allowed depends on more than a schema can express, so 400 is right: fields on the model, addresses
# on their hosts, the models of a key on the catalogue, the days of a report on each other, a month on
# today, and "after" on the page before.
[[operations]]
include-name-regex = "^(POST /v1/(.*/(generations|quotes)|webhooks|account/keys)|GET /v1/(usage|callbacks|account/summaries/.*))$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "402", "403", "404", "409", "429"]

# The file of a link may have been deleted meanwhile.
[[operations]]
include-name-regex = "^GET /files/"
checks.positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "410", "416", "429"]

# A schema cannot describe the bytes of an image, a video or a sound: 415 is right.
[[operations]]
include-name = "POST /v1/files"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "415", "429"]
`;

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}
