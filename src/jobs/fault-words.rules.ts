// The faults of a channel in words, after its name.

import type { FaultKind } from './create-answer.rules';

const faultTexts: Readonly<Record<FaultKind, string>> = {
  caller: 'refused a request',
  operator: 'refuses our key or account',
  unavailable: 'cannot be reached',
  busy: 'has too many requests',
  ambiguous: 'gave no clear answer',
  not_found: 'does not know a job or model',
  late: 'a request was not sent in time',
};

export const faultText = (kind: FaultKind): string => faultTexts[kind] ?? kind;
