/* Translates a refusal of the studio into the words and the envelope of this protocol. */

const CODES: Record<string, string> = {
  MissingParameter: 'InvalidParameter',
  AuthenticationError: 'InvalidApiKey',
  ServerOverloaded: 'Throttling.RateQuota',
  InternalServiceError: 'InternalError',
  'InvalidEndpointOrModel.NotFound': 'ModelNotFound',
};

export function refusalOf(error: object, requestId: string): object {
  const { code = '', message } = error as Record<string, string | undefined>;
  return { code: CODES[code] ?? code, message, request_id: requestId };
}
