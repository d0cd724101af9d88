// These tests classify every documented refusal of a create, and check the sentence that a customer
// gets for it.

import { classifyFault, failureOf } from '../../../../activities/providers/ark/faults';

const answer = (status: number, code: string | null) => ({
  status,
  retryAfterMs: null,
  dateMs: null,
  json: code === null ? null : { error: { code, message: 'raw upstream text', type: 'x' } },
});

test.each([
  [400, 'MissingParameter', 'caller'],
  [400, 'InvalidParameter', 'caller'],
  [400, 'InvalidParameter.duration', 'caller'],
  [400, 'InputTextSensitiveContentDetected', 'caller'],
  [400, 'InputImageSensitiveContentDetected.PrivacyInformation', 'caller'],
  [400, 'InvalidEndpoint.ClosedEndpoint', 'operator'],
  [401, 'AuthenticationError', 'operator'],
  [403, 'AccountOverdueError', 'operator'],
  [403, 'OperationDenied.ServiceOverdue', 'operator'],
  [404, 'InvalidEndpointOrModel.NotFound', 'operator'],
  [404, 'ModelNotOpen', 'operator'],
  [404, 'NotFound', 'not_found'],
  [429, 'RateLimitExceeded.EndpointRPMExceeded', 'busy'],
  [429, 'ServerOverloaded', 'busy'],
  [429, 'QuotaExceeded', 'operator'],
  [429, 'SetLimitExceeded', 'operator'],
  [429, null, 'busy'],
  [503, 'ServiceUnavailable', 'unavailable'],
  [503, null, 'ambiguous'],
  [500, 'InternalServiceError', 'ambiguous'],
  [502, null, 'ambiguous'],
  [504, null, 'ambiguous'],
  [408, null, 'ambiguous'],
  [409, 'IdempotencyKeyInProgress', 'ambiguous'],
  [425, 'TooEarly', 'ambiguous'],
  [200, null, 'ambiguous'],
  [400, null, 'ambiguous'],
] as const)(
  'a refused create with status %i and code %s is classified as %s',
  (status, code, kind) => {
    expect(classifyFault(answer(status, code)).kind).toBe(kind);
  },
);

test('a long error code is cut after 100 characters', () => {
  const code = 'InternalServiceError'.padEnd(1_000_000, 'x');
  expect(classifyFault(answer(500, code)).code).toBe(code.slice(0, 100));
  expect(failureOf('failed', { code }).code).toBe(code.slice(0, 100));
});

test.each([
  ['content[0].image_url', 'content[0].image_url'],
  ['', undefined],
  ['a sunset over the sea', undefined],
  ['x'.repeat(101), undefined],
  [{ name: 'ratio' }, undefined],
])(
  'if a refusal has the param %j, the fault has the param %j, because only parameter names may be logged',
  (param, kept) => {
    const json = { error: { code: 'InvalidParameter', param } };
    expect(classifyFault({ ...answer(400, null), json }).param).toBe(kept);
  },
);

test.each([
  ['InputTextSensitiveContentDetected', /prompt was refused/],
  ['InputImageSensitiveContentDetected', /image was refused/],
  ['InputVideoSensitiveContentDetected.PolicyViolation', /video was refused/],
  ['InputAudioSensitiveContentDetected', /audio was refused/],
  ['OutputVideoSensitiveContentDetected', /generated video was withheld/],
  ['InvalidParameter.duration', /value of duration/],
  ['InvalidParameter.<script>', /one of the parameters/],
  ['SomethingNew', /could not finish/],
])(
  'the provider’s error code %s is translated into a sentence of the service',
  (code, sentence) => {
    const fault = failureOf('failed', { code, message: 'raw upstream text' });
    expect(fault.sentence).toMatch(sentence);
    expect(fault.sentence).not.toMatch(/raw upstream text/);
  },
);

test('the error message of an expired or cancelled job says how the job ended', () => {
  expect(failureOf('expired', null).sentence).toMatch(/expire/);
  expect(failureOf('cancelled', null).sentence).toMatch(/cancelled/);
});
