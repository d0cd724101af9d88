// Runs the provider's official Python SDK against the studio. The SDK creates, reads, lists and
// deletes jobs, and parses replies and refusals. Without Python these tests are skipped.

import { join } from 'node:path';
import { apiKey, type OpenStudio, openStudio } from '../studio/open-studio';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the package on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');

(python ? describe : describe.skip)('the official Python SDK of the provider', () => {
  let studio: OpenStudio;
  // biome-ignore lint/suspicious/noExplicitAny: what the program printed; a wrong guess fails the expectation
  let seen: any;
  beforeAll(async () => {
    const sdk = await pythonPackage(
      ...(['volcengine-ark-runtime', '5.0.54', 'volcenginesdkarkruntime'] as const),
    );
    studio = await openStudio();
    const program = runProgram('python3', [join(__dirname, 'ark_sdk.py'), studio.url, apiKey], {
      env: { PYTHONPATH: sdk, PYTHONIOENCODING: 'utf-8' },
    });
    if ((await program.code) !== 0) throw new Error(program.err());
    seen = JSON.parse(program.out());
  });
  afterAll(() => studio?.close());

  test('the SDK creates a job with many settings and parses the finished job', () => {
    const tokens = Math.floor((145 * 496 * 864) / 1024);
    expect(seen.full).toEqual({
      ...{ id_type: 'ContentGenerationTaskID', task_type: 'ContentGenerationTask', same_id: true },
      ...{ content_type: 'Content', has_video: true, has_last_frame: true, error: null },
      usage: { completion_tokens: tokens, total_tokens: tokens },
      said: {
        ...{ model: 'studio-2.0', status: 'succeeded', resolution: '480p', ratio: '9:16' },
        ...{ duration: 6, seed: 77, priority: 3, draft: false, framespersecond: 24 },
        ...{ generate_audio: false, safety_identifier: 'someone', service_tier: 'default' },
        execution_expires_after: 7200,
      },
      times: ['int', true],
    });
  });

  test('the SDK parses a failed job', () => {
    expect(seen.failed).toEqual({
      ...{ status: 'failed', class: 'ContentGenerationError' },
      ...{ code: 'OutputVideoSensitiveContentDetected', message: 'Seen.' },
    });
  });

  test('the SDK lists jobs by page, by filter and by ids', () => {
    expect(seen.listing).toEqual({
      ...{ type: 'ListContentGenerationTasksResponse', item_type: 'ContentGenerationTask' },
      ...{ page: true, total: 3, some: true, none: 0 },
    });
  });

  test('the SDK cancels a queued job, deletes an ended job, and gets a refusal for a running job', () => {
    expect(seen.deleting).toEqual({
      queued: 'cancelled',
      running: fault('ArkBadRequestError', 400, 'InvalidAction', 'id', 'BadRequest'),
      done: fault('ArkNotFoundError', 404, 'ResourceNotFound', 'id', 'NotFound'),
    });
  });

  test.each([
    ['parameter', fault('ArkBadRequestError', 400, 'InvalidParameter', 'duration', 'BadRequest')],
    ['missing', fault('ArkBadRequestError', 400, 'MissingParameter', 'content', 'BadRequest')],
    [
      'model',
      fault('ArkNotFoundError', 404, 'InvalidEndpointOrModel.NotFound', 'model', 'NotFound'),
    ],
    ['key', fault('ArkAuthenticationError', 401, 'AuthenticationError', '', 'Unauthorized')],
    ['forbidden', fault('ArkPermissionDeniedError', 403, 'AccountOverdueError', '', 'Forbidden')],
    ['limit', fault('ArkRateLimitError', 429, 'ServerOverloaded', '', 'TooManyRequests')],
    [
      'server',
      fault('ArkInternalServerError', 500, 'InternalServiceError', '', 'InternalServerError'),
    ],
  ])('the SDK raises the matching exception for the fault “%s”', (name, expected) => {
    expect(seen.faults[name]).toEqual(expected);
  });

  test('a create that the SDK repeats after a lost reply makes two jobs without an Idempotency-Key, and one job with such a key', async () => {
    expect(seen.retries.after_overload).toBe(true);
    const accepted = async (name: string) =>
      (await studio.call('GET', `/admin/accepted?client_request_id=${name}`)).json.total;
    expect(await accepted('sdk-without-key')).toBe(2);
    expect(await accepted('sdk-with-key')).toBe(1);
  });
});

function fault(name: string, status: number, code: string, param: string, type: string) {
  return { class: name, has_request_id: true, status_code: status, code, param, type };
}
