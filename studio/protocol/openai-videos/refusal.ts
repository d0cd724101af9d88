/* Translates a refusal of the studio into the words and the envelope of this protocol. */

const CODES: Record<string, string> = {
  InvalidParameter: 'invalid_value',
  MissingParameter: 'missing_required_parameter',
  AuthenticationError: 'invalid_api_key',
  ServerOverloaded: 'rate_limit_exceeded',
  InternalServiceError: 'server_error',
  'InvalidEndpointOrModel.NotFound': 'model_not_found',
};

const TYPES: Record<string, string> = {
  Unauthorized: 'authentication_error',
  TooManyRequests: 'rate_limit_error',
  InternalServerError: 'server_error',
};

export function refusalOf(error: object): object {
  const { code, message, param, type } = error as Record<string, string | undefined>;
  return {
    error: {
      message,
      type: TYPES[type ?? ''] ?? 'invalid_request_error',
      param: param || null,
      code: CODES[code ?? ''] ?? code,
    },
  };
}
