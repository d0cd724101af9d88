// Classifies refusals and failures by HTTP status and code, never by message text. This file also
// chooses the sentence for the customer. A refusal may come with HTTP 200: only the id of a task
// shows that a create was accepted.

import type { VideoRequest } from '../../../src/contract/request';
import type { FaultKind } from '../../../src/jobs/create-answer.rules';
import type { JobFailure } from '../../../src/jobs/job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import { codeOf } from '../http-exchange';
import { endedAs, type FailedStatus, failedWith } from '../job-readings';
import { type MediaClue, mediaSentence, unfetchedFile } from '../media-clues';
import { UpstreamFault } from '../provider';

/** `request`: the request of a create. */
export function classifyFault(
  answer: UpstreamAnswer,
  request: VideoRequest | null = null,
): UpstreamFault {
  const code = codeOf(answer.json);
  const kind = kindOf(answer.status, code);
  const refusal = () => mediaSentence(refusalOf(code ?? ''), clueOf(code ?? ''), request);
  return new UpstreamFault(
    kind,
    code ?? `HTTP_${answer.status}`,
    kind === 'caller' ? refusal() : 'The generator could not take the task.',
    answer.retryAfterMs,
  );
}

/** `code` is null if the body does not follow the protocol. Then probably a proxy answered. */
function kindOf(status: number, code: string | null): FaultKind {
  if (status >= 500 || status === 408 || status === 409 || status === 425) return 'ambiguous';
  if (code !== null && isOfAccount(code)) return 'operator';
  if (status === 429 || /^Throttling|^LimitRequests/.test(code ?? '')) return 'busy';
  if (status === 401 || status === 403) return 'operator';
  if (status === 404) return 'not_found';
  const isRefusal = code !== null && !/^Internal/.test(code);
  const isOfProtocol = status === 200 || (status >= 400 && status < 500);
  return isOfProtocol && isRefusal ? 'caller' : 'ambiguous';
}

// Only an operator can correct these: no money, a wrong key, a model that the key may not use.
function isOfAccount(code: string): boolean {
  return /^(Arrearage|InvalidApiKey|ModelNotFound|(Prepaid|Postpaid)BillOverdue|(Model\.|Workspace\.)?AccessDenied|AllocationQuota\.FreeTierOnly)/.test(
    code,
  );
}

export function failureOf(status: FailedStatus, output: unknown): JobFailure {
  return endedAs(status, () => {
    const code = codeOf(output) ?? 'failed';
    if (isOfDownload(code)) return { code, sentence: unfetchedFile };
    const failed = failedWith(code, isOfContentCheck(code));
    return code === 'InvalidParameter' ? { ...failed, mayBeMedia: true } : failed;
  });
}

function refusalOf(code: string): string {
  return isOfContentCheck(code)
    ? 'The prompt or a file was refused by the content check.'
    : 'The generator did not accept one of the parameters.';
}

function isOfContentCheck(code: string): boolean {
  return /^(DataInspectionFailed|IPInfringement)/.test(code);
}

/** The protocol never names the file. Newer models have no code of their own for a download. */
function clueOf(code: string): MediaClue | null {
  if (isOfDownload(code)) return { is: 'unfetched' };
  return code === 'InvalidParameter' ? { is: 'unsaid' } : null;
}

function isOfDownload(code: string): boolean {
  return /^(InvalidURL|InvalidParameter\.DataInspection|BadRequest\.InputDownloadFailed)/.test(
    code,
  );
}
