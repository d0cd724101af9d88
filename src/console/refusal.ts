// What the console answers instead of data: a code with its HTTP status, and a sentence. The body has
// the form of the public API's errors.

import { refusals } from '../contract/error';
import { isRetryable } from '../database/database';
import { Refused } from '../gateway/context';

export const statuses = {
  invalid_value: 400,
  missing_required_parameter: 400,
  signed_out: 401,
  cross_site: 403,
  forbidden: 403,
  not_found: 404,
  not_so: 409,
  too_many_exports: 429,
  internal_error: 500,
  unavailable: 503,
  outcome_unknown: 503,
} as const;

type Code = keyof typeof statuses;

export class ConsoleRefusal extends Error {
  override readonly name = 'ConsoleRefusal';
  constructor(
    readonly code: Code,
    message: string,
    /** The field that is wrong. */
    readonly param = '',
  ) {
    super(message);
  }
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: { readonly code: string; message: string; param: string } };
}

const reply = (status: number, code: string, message: string, param = '', headers = {}): Reply => ({
  status,
  headers,
  body: { error: { code, message, param } },
});

/** The reply to an error that was thrown; null if the error is a fault of ours. */
export function replyTo(error: unknown): Reply | null {
  if (error instanceof ConsoleRefusal) {
    return reply(statuses[error.code], error.code, error.message, error.param);
  }
  if (error instanceof Refused) {
    const { code, message, param } = error.refusal;
    return reply(refusals[code].status, code, message, param, error.headers);
  }
  const { name, message } = error as Error;
  if (name === 'CommandError') return replyToCommand(error as Failed);
  if (isRetryable(error)) {
    return reply(503, 'unavailable', 'The database does not answer at the moment. Try again.');
  }
  // A file that another person has to put right.
  return name === 'CatalogueError' ? reply(409, 'not_so', message) : null;
}

interface Failed extends Error {
  readonly exitCode: 1 | 2;
  readonly kind: 'not_found' | 'away' | 'outcome_unknown' | null;
  readonly param: string;
}

const codes = { not_found: 'not_found', away: 'unavailable', outcome_unknown: 'outcome_unknown' };

function replyToCommand({ exitCode, kind, message, param }: Failed): Reply {
  const otherwise = exitCode === 2 ? 'invalid_value' : 'not_so';
  const code = (kind === null ? otherwise : codes[kind]) as Code;
  return reply(statuses[code], code, message, camelCase(param));
}

/** `files-kept-days` of the command line is `filesKeptDays` over HTTP. */
export function camelCase(name: string): string {
  return name.toLowerCase().replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
