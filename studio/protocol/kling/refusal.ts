/*
 * Translates a refusal of the studio into the numbers and the envelope of this protocol. A script
 * may name a number of the protocol itself.
 */

const CODES: Record<string, number> = {
  AuthenticationError: 1000,
  AccessDenied: 1103,
  ServerOverloaded: 1302,
  InternalServiceError: 5000,
  'InvalidEndpointOrModel.NotFound': 1203,
};

export function refusalOf(error: object, requestId: string): object {
  const { code = '', message } = error as Record<string, string | undefined>;
  const number = /^\d{4}$/.test(code) ? Number(code) : CODES[code];
  return { code: number ?? 1201, message, request_id: requestId };
}
