// Classifies refusals and failures. The protocol writes its numeric codes at the end of messages,
// for example "invalid params (2013)". All other text of a message is ignored, with one exception:
// a job that the provider does not know is answered with 500 and the words "record not found".

import type { VideoRequest } from '../../../src/contract/request';
import type { FaultKind } from '../../../src/jobs/create-answer.rules';
import type { JobFailure } from '../../../src/jobs/job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import { field, messageOf, textOf } from '../http-exchange';
import { endedAs, type FailedStatus, failedWith } from '../job-readings';
import { mediaSentence } from '../media-clues';
import { UpstreamFault } from '../provider';

/** `request`: the request of a create. */
export function classifyFault(
  answer: UpstreamAnswer,
  request: VideoRequest | null = null,
): UpstreamFault {
  const error = field(answer.json, 'error');
  const code = codeIn(field(error, 'message'));
  const type = textOf(field(error, 'type'));
  const kind = kindOf(answer, code, type !== null);
  const clue = code === invalidParams ? ({ is: 'unsaid' } as const) : null;
  return new UpstreamFault(
    kind,
    code ?? type ?? `HTTP_${answer.status}`,
    kind === 'caller'
      ? mediaSentence(refusalOf(code), clue, request)
      : 'The generator could not take the task.',
    answer.retryAfterMs,
  );
}

/** If the body does not follow the protocol, probably a proxy answered, and not the provider. */
function kindOf(answer: UpstreamAnswer, code: string | null, isOfProtocol: boolean): FaultKind {
  const { status } = answer;
  if (code !== null && accountCodes.has(code) && status >= 400 && status < 500) return 'operator';
  if (status === 429) return 'busy';
  if (status === 401 || status === 402 || status === 403) return 'operator';
  if (status === 404) return 'not_found';
  if (status === 408 || status === 409 || status === 425) return 'ambiguous';
  return status >= 400 && status < 500 && isOfProtocol ? 'caller' : 'ambiguous';
}

/** True if a read or a cancel was answered with the words for an unknown job. */
export function isUnknownJob({ status, json }: UpstreamAnswer): boolean {
  const message = messageOf(field(field(json, 'error'), 'message'));
  return status === 404 || (status === 500 && /record not found/i.test(message));
}

// No credit, a wrong key, and a used-up quota. Only an operator can correct these.
const accountCodes: ReadonlySet<string> = new Set(['1004', '1008', '2049', '2056']);
// A file that cannot be fetched has no code of its own.
const invalidParams = '2013';
const contentCodes: ReadonlySet<string> = new Set(['1026', '1027']);

function codeIn(message: unknown): string | null {
  return /\((\d{4})\)\s*$/.exec(messageOf(message))?.[1] ?? null;
}

function refusalOf(code: string | null): string {
  return code !== null && contentCodes.has(code)
    ? 'The prompt or one of the media was refused by the content check.'
    : 'The generator did not accept one of the parameters.';
}

/** The code of a failed job is a text or a number, or stands in its message. */
export function failureOf(status: FailedStatus, error: unknown): JobFailure {
  return endedAs(status, () => {
    const sent = field(error, 'code');
    const named = typeof sent === 'number' ? String(sent) : textOf(sent);
    const code = named ?? codeIn(field(error, 'message')) ?? 'failed';
    const failed = failedWith(code, contentCodes.has(code));
    return code === invalidParams ? { ...failed, mayBeMedia: true } : failed;
  });
}
