/*
 * The fault script says how a job and its files behave. A test writes the script into the field
 * `studio` of a create request, or sets it for all new jobs through the admin endpoint. Unknown
 * names are refused, because a test with a misspelt name could pass for the wrong reason.
 * studio/README.md describes every name.
 */

import { z } from 'zod';
import type { ProtocolError } from '../protocol-error';
import { invalid } from '../protocol-error';

/** Ten weeks are longer than any job lives, so this value can also mean "never". */
const SECONDS_MAX = 6_000_000;
const DAY_S = 86_400;
const FAULTS_MAX = 100;

const seconds = z.number().min(0).max(SECONDS_MAX);
const text = z.string().min(1);
const byteCount = z.int().min(0).max(100_000_000_000);

/**
 * A fault applies to `times` attempts, by default to one attempt. Later attempts get the next fault
 * in the list.
 */
const fault = names({
  status: z.int().min(200).max(599),
  code: text,
  times: z.int().min(0).max(1_000_000),
});

const createFault = names({
  ...fault.shape,
  lose_reply: z.boolean(),
  delay_s: seconds,
  reset: z.boolean(),
  html: z.boolean(),
});

/** A fault of a download from a result link. */
const resultFault = names({
  ...fault.shape,
  stop_after_bytes: byteCount,
  claim_bytes: byteCount,
  bytes_per_s: z.number().min(1).max(1_000_000_000),
  total_bytes: byteCount,
});

const innerScript = names({
  render: z.enum(['none', 'full']),
  queue_s: seconds,
  run_s: seconds,
  end: z.enum(['succeeded', 'failed', 'expired', 'cancelled']),
  code: text,
  message: text,
  /** If false, a generation reports no usage, and an enhancement reports no length. */
  usage: z.boolean(),
  /** The reported length, in place of the real length. */
  reported_s: seconds,
  link_life_s: z.number().min(0).max(DAY_S),
  /** If true, the studio ignores the key of a create, like a provider without idempotency keys. */
  ignore_idempotency_key: z.boolean(),
  create: oneOrMore(createFault),
  result: oneOrMore(resultFault),
});

const script = names({
  ...innerScript.shape,
  /** The reported usage of a generation, in place of the real usage. */
  tokens: z.int().min(0).max(1_000_000_000_000),
  /**
   * The script of the enhancement that follows this generation. The studio finds the generation by
   * the request id, which is the same in both calls.
   */
  enhance: innerScript,
});

export type Fault = z.infer<typeof fault>;
export type CreateFault = z.infer<typeof createFault>;
export type ResultFault = z.infer<typeof resultFault>;
export type Script = z.infer<typeof script>;

/** Throws a refusal if the script is invalid. The refusal calls the script `name`. */
export function parseScript(value: unknown, name: string): Script {
  const { success, data, error } = script.safeParse(value ?? {});
  if (success) return data;
  throw refusal(error.issues[0]!, name);
}

/**
 * True if a real video is rendered for the job. Nothing is rendered for jobs that do not succeed
 * and for jobs with `render: none`.
 */
export function isRendered(script: Script): boolean {
  return script.render !== 'none' && (script.end ?? 'succeeded') === 'succeeded';
}

function names<Known extends z.ZodRawShape>(known: Known) {
  const unknown = `unknown name; known are ${Object.keys(known).join(', ')}`;
  const error = ({ code }: { code: string }) =>
    code === 'unrecognized_keys' ? unknown : undefined;
  return z.strictObject(known, { error }).partial();
}

function oneOrMore<Kind extends z.ZodType>(kind: Kind) {
  const error = `it must be a fault or a list of at most ${FAULTS_MAX} faults`;
  return z.union([kind, z.array(kind).max(FAULTS_MAX)], { error });
}

function refusal(issue: z.core.$ZodIssue, parent: string): ProtocolError {
  const keys = issue.code === 'unrecognized_keys' ? [issue.keys[0]!] : [];
  const param = [...issue.path, ...keys].reduce<string>(
    (path, key) => path + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`),
    parent,
  );
  // If a value is neither a valid fault nor a valid list of faults, zod lists the issues of both
  // choices. An issue with a path points to the wrong value inside a fault.
  const choices = issue.code === 'invalid_union' ? issue.errors.flat() : [];
  const inside = choices.find(({ path }) => path.length > 0);
  return inside ? refusal(inside, param) : invalid(param, issue.message);
}
