// Classifies refusals and failures by HTTP status and code, never by message text. This file also
// chooses the sentence for the customer. Gateways answer with 5xx also if the server behind them has
// accepted the job, so every 5xx leaves open whether a job exists.

import type { VideoRequest } from '../../../src/contract/request';
import type { FaultKind } from '../../../src/jobs/create-answer.rules';
import type { JobFailure } from '../../../src/jobs/job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import { codeOf, field, paramOf, textOf } from '../http-exchange';
import { endedAs, type FailedStatus, failedWith } from '../job-readings';
import { type MediaClue, mediaSentence, unfetchedFile } from '../media-clues';
import { UpstreamFault } from '../provider';

/** `request`: the request of a create. */
export function classifyFault(
  answer: UpstreamAnswer,
  request: VideoRequest | null = null,
): UpstreamFault {
  const error = field(answer.json, 'error');
  const code = codeOf(error) ?? typeOf(error);
  const isOfProtocol = code !== null || field(answer.json, 'detail') !== undefined;
  const kind = kindOf(answer.status, code, isOfProtocol);
  const param = paramOf(error);
  const refusal = () => mediaSentence(refusalOf(code ?? ''), clueOf(code ?? '', param), request);
  return new UpstreamFault(
    kind,
    code ?? `HTTP_${answer.status}`,
    kind === 'caller' ? refusal() : 'The generator could not take the task.',
    answer.retryAfterMs,
    { param },
  );
}

/** Some servers send no code, or a number. The type of the error then stands for its code. */
function typeOf(error: unknown): string | null {
  return textOf(field(error, 'type'));
}

/** If the body does not follow the protocol, probably a proxy answered, and not the provider. */
function kindOf(status: number, code: string | null, isOfProtocol: boolean): FaultKind {
  if (code !== null && isOfAccount(code) && status >= 400 && status < 500) return 'operator';
  if (status === 429) return 'busy';
  if (status === 401 || status === 402 || status === 403) return 'operator';
  if (status === 404) return 'not_found';
  // 408, 409 and 425 are sent while a create with the same key is in progress.
  if (status === 408 || status === 409 || status === 425) return 'ambiguous';
  return status >= 400 && status < 500 && isOfProtocol ? 'caller' : 'ambiguous';
}

// Only an operator can correct these: no credit, a wrong key, a model that the key may not use.
function isOfAccount(code: string): boolean {
  return /^(insufficient_quota|billing_\w+|invalid_api_key|account_\w+|model_not_found)$/.test(
    code,
  );
}

export function failureOf(status: FailedStatus, error: unknown): JobFailure {
  return endedAs(status, () => {
    const code = codeOf(error) ?? typeOf(error) ?? 'failed';
    if (isOfDownload(code)) return { code, sentence: unfetchedFile };
    return failedWith(code, isOfContentCheck(code));
  });
}

function refusalOf(code: string): string {
  return isOfContentCheck(code)
    ? 'The prompt or the image was refused by the content check.'
    : 'The generator did not accept one of the parameters.';
}

function isOfContentCheck(code: string): boolean {
  return /moderation|content_policy|content_filter|safety|sensitive/.test(code);
}

/** A create has one image at most, whose name depends on the dialect. */
function clueOf(code: string, param: string | undefined): MediaClue | null {
  if (isOfContentCheck(code)) return null;
  if (isOfDownload(code)) return { is: 'unfetched' };
  if (param === undefined) return { is: 'unsaid' };
  return /^(input_reference|image_reference|reference_url)\b/.test(param)
    ? { is: 'refused' }
    : null;
}

function isOfDownload(code: string): boolean {
  return code === 'invalid_image_url' || code === 'failed_to_download_image';
}
