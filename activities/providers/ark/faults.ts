// Classifies refusals and failures of the generator by HTTP status and error code, never by message
// text. This file also chooses the sentence for the customer, because customers do not get the
// texts of the generator (docs/decisions.md, 11).

import type { VideoRequest } from '../../../src/contract/request';
import type { FaultKind } from '../../../src/jobs/create-answer.rules';
import type { JobFailure } from '../../../src/jobs/job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import { codeOf, field, paramOf } from '../http-exchange';
import { endedAs, type FailedStatus, unfinished } from '../job-readings';
import { fieldsOf, type MediaClue, mediaSentence } from '../media-clues';
import { UpstreamFault } from '../provider';

/** `request`: the request of a create. */
export function classifyFault(
  answer: UpstreamAnswer,
  request: VideoRequest | null = null,
): UpstreamFault {
  const error = field(answer.json, 'error');
  const code = codeOf(error);
  const kind = kindOf(answer.status, code);
  const param = paramOf(error);
  const refusal = () =>
    mediaSentence(sentenceOf(code ?? ''), clueOf(code, param, request), request);
  return new UpstreamFault(
    kind,
    code ?? `HTTP_${answer.status}`,
    kind === 'caller' ? refusal() : 'The generator could not take the task.',
    answer.retryAfterMs,
    { param },
  );
}

/** A file that cannot be fetched has no code of its own: the refusal names the entry of `content`. */
function clueOf(
  code: string | null,
  param: string | undefined,
  request: VideoRequest | null,
): MediaClue | null {
  const entry = /^content\[(\d{1,3})\](\.(image|video|audio)_url(\.url)?)?$/.exec(param ?? '')?.[1];
  // The first entry is the prompt.
  const field = request && entry ? fieldsOf(request)[Number(entry) - 1] : undefined;
  if (code?.startsWith('InvalidImageURL')) return { is: 'refused', field };
  if (code !== 'InvalidParameter') return null;
  if (field !== undefined) return { is: 'refused', field };
  return param === undefined || param === 'content' ? { is: 'unsaid' } : null;
}

/**
 * `code` is null if the body does not follow the protocol. Then probably a proxy answered, and not
 * the provider.
 */
function kindOf(status: number, code: string | null): FaultKind {
  if (status === 429) return isAccountLimit(code) ? 'operator' : 'busy';
  if (status === 401 || status === 403) return 'operator';
  if (status === 404) return code && isUnknownModel(code) ? 'operator' : 'not_found';
  if (status === 503 && code) return 'unavailable';
  // 409 and 425 mean that a create with the same key is in progress or was already used.
  if (status === 408 || status === 409 || status === 425) return 'ambiguous';
  if (status >= 500 || status < 400 || !code) return 'ambiguous';
  if (code.startsWith('InvalidEndpoint')) return 'operator';
  return 'caller';
}

// These codes mean that a free quota or a spending limit is used up. Only an operator can correct
// this.
function isAccountLimit(code: string | null): boolean {
  return code === 'SetLimitExceeded' || code === 'QuotaExceeded';
}

function isUnknownModel(code: string): boolean {
  return code.startsWith('InvalidEndpointOrModel') || code === 'ModelNotOpen';
}

export function failureOf(status: FailedStatus, error: unknown): JobFailure {
  return endedAs(status, () => {
    const code = codeOf(error) ?? '';
    const mayBeMedia = code === 'InvalidParameter' || code.startsWith('InvalidImageURL');
    return {
      code: code || 'failed',
      sentence: sentenceOf(code),
      ...(mayBeMedia ? { mayBeMedia } : {}),
    };
  });
}

const inputNames: readonly (readonly [prefix: string, input: string])[] = [
  ['InputText', 'prompt'],
  ['InputImage', 'image'],
  ['InputVideo', 'video'],
  ['InputAudio', 'audio'],
  ['OutputVideo', 'generated video'],
  ['OutputAudio', 'generated audio'],
];

/**
 * Returns a fixed sentence. The sentence names the faulty input if the code identifies the input.
 */
function sentenceOf(code: string): string {
  const [, input] = inputNames.find(([prefix]) => code.startsWith(prefix)) ?? [];
  if (input?.startsWith('generated')) return `The ${input} was withheld by the content check.`;
  if (input) return `The ${input} was refused by the content check.`;
  const parameter = /^(?:Invalid|Missing)Parameter\.([a-z_]{1,40})$/.exec(code)?.[1];
  if (parameter) return `The generator did not accept the value of ${parameter}.`;
  if (/^(?:Invalid|Missing)Parameter/.test(code)) {
    return 'The generator did not accept one of the parameters.';
  }
  return unfinished;
}
