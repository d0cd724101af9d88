/*
 * The errors in the studio's replies. Codes, types and the shape of the body are those of the
 * provider; the messages are the studio's own. Routes throw these errors, and the router sends all
 * of them in the same way.
 */

export class ProtocolError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string;

  constructor(status: number, code: string, message: string, param = '') {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }

  /**
   * As at the provider, the message ends with the request id, so that a support case can quote the
   * id.
   */
  body(requestId: string) {
    return {
      code: this.code,
      message: `${this.message} Request id: ${requestId}`,
      param: this.param,
      type: errorType(this.status),
    };
  }
}

export function missing(param: string): ProtocolError {
  return new ProtocolError(
    400,
    'MissingParameter',
    `The request failed because it is missing the required parameter \`${param}\`.`,
    param,
  );
}

export function invalid(param: string, why: string): ProtocolError {
  return new ProtocolError(
    400,
    'InvalidParameter',
    `The parameter \`${param}\` specified in the request is not valid: ${why}.`,
    param,
  );
}

/** Returns the code of an error reply if the script names only the status. */
export function defaultCode(status: number): string {
  const codes: Record<number, string> = {
    400: 'InvalidParameter',
    401: 'AuthenticationError',
    403: 'AccessDenied',
    404: 'InvalidEndpointOrModel.NotFound',
    429: 'ServerOverloaded',
  };
  return codes[status] ?? (status >= 500 ? 'InternalServiceError' : 'InvalidParameter');
}

function errorType(status: number): string {
  const types: Record<number, string> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    413: 'RequestEntityTooLarge',
    429: 'TooManyRequests',
  };
  return types[status] ?? (status >= 500 ? 'InternalServerError' : 'BadRequest');
}
