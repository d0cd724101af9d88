/* Translates a refusal of the studio into the words and the envelope of this protocol. */

const TYPES: Record<number, string> = {
  400: 'bad_request_error',
  401: 'authorized_error',
  402: 'insufficient_balance_error',
  422: 'unprocessable_entity_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const CODES: Record<string, string> = {
  InvalidParameter: '2013',
  MissingParameter: '2013',
  AuthenticationError: '1004',
  ServerOverloaded: '1002',
  InternalServiceError: '1000',
};

/** A code of the protocol is a number at the end of the message. */
export function refusalOf(error: object, requestId: string, status: number): object {
  const { code = '', message } = error as Record<string, string | undefined>;
  const number = codeOf(code);
  return {
    type: 'error',
    error: {
      type: TYPES[status] ?? (status >= 500 ? 'server_error' : 'bad_request_error'),
      message: number === undefined ? message : `${message} (${number})`,
      http_code: String(status),
    },
    request_id: requestId,
  };
}

export function codeOf(code: string): string | undefined {
  return /^\d{4}$/.test(code) ? code : CODES[code];
}
