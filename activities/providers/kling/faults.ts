// Classifies refusals and failures by the number of the protocol, never by message text. HTTP 429
// means two opposite things: "no money" and "slow down".

import type { VideoRequest } from '../../../src/contract/request';
import type { FaultKind } from '../../../src/jobs/create-answer.rules';
import type { JobFailure } from '../../../src/jobs/job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import { field, numberOf } from '../http-exchange';
import { failedWith } from '../job-readings';
import { mediaSentence } from '../media-clues';
import { UpstreamFault } from '../provider';

/** `request`: the request of a create. */
export function classifyFault(
  answer: UpstreamAnswer,
  request: VideoRequest | null = null,
): UpstreamFault {
  const code = numberOf(field(answer.json, 'code'));
  const kind = kindOf(answer.status, code);
  // A file that cannot be fetched has no number of its own.
  const clue = code === 1200 || code === 1201 ? ({ is: 'unsaid' } as const) : null;
  return new UpstreamFault(
    kind,
    code === null ? `HTTP_${answer.status}` : String(code),
    kind === 'caller'
      ? mediaSentence(refusalOf(code ?? 0), clue, request)
      : 'The generator could not take the task.',
    answer.retryAfterMs,
  );
}

/** `code` is null if the body does not follow the protocol. Then probably a proxy answered. */
function kindOf(status: number, code: number | null): FaultKind {
  if (status >= 500 || status === 408 || status === 409 || status === 425) return 'ambiguous';
  if (code !== null && code !== 0) return kindOfCode(code);
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'operator';
  return status === 404 ? 'not_found' : 'ambiguous';
}

function kindOfCode(code: number): FaultKind {
  // The key or the account: a wrong token, no money, no access, an address that is not allowed.
  if ((code >= 1000 && code < 1200) || code === 1304) return 'operator';
  // There is no such path, model or task.
  if (code === 1202 || code === 1203) return 'not_found';
  if (code === 1302 || code === 1303) return 'busy';
  return code >= 1200 && code < 1400 ? 'caller' : 'ambiguous';
}

function refusalOf(code: number): string {
  return code >= 1300
    ? 'The prompt or an image was refused by the content check.'
    : 'The generator did not accept one of the parameters.';
}

/** The protocol gives only a text for the reason of a failure, so the reason is not known. */
export function failure(): JobFailure {
  return failedWith('failed', false);
}
