/*
 * The fault script: how a job, its files and the list behave. A test writes it into the field
 * `studio` of a create request, or sets it for all new jobs through the admin endpoint. Unknown
 * names are refused, because a misspelt name would let a test pass for the wrong reason.
 * docs/studio.md describes every name.
 */

import { isObject } from '../http';
import { invalid } from '../protocol-error';

const ENDS = ['succeeded', 'failed', 'expired', 'cancelled'] as const;
const LIST_ORDERS = ['newest', 'oldest', 'shuffled'] as const;

/** A fault applies to `times` attempts, by default one; then the next fault in the list follows. */
export interface Fault {
  status?: number;
  code?: string;
  times?: number;
}

export interface CreateFault extends Fault {
  lose_reply?: boolean;
  delay_s?: number;
  reset?: boolean;
  html?: boolean;
  retry_after?: number;
}

/** A fault of a download from a result link. */
export interface ResultFault extends Fault {
  stop_after_bytes?: number;
  claim_bytes?: number;
  no_length?: boolean;
  bytes_per_s?: number;
  size_bytes?: number;
}

export interface Script {
  render?: 'none' | 'full';
  queue_s?: number;
  run_s?: number;
  end?: (typeof ENDS)[number];
  code?: string;
  message?: string;
  tokens?: number;
  usage?: boolean;
  url?: boolean;
  link_life_s?: number;
  backwards?: boolean;
  listed_after_s?: number;
  create?: CreateFault | CreateFault[];
  result?: ResultFault | ResultFault[];
  /** The script of the enhancement that follows; the service passes it to the enhancer. */
  enhance?: Script;
}

export interface ListFault {
  empty?: boolean;
  items_max?: number;
  order?: (typeof LIST_ORDERS)[number];
  page_shift?: number;
  field_every_s?: number;
}

export interface GlobalScript extends Script {
  /** Imitates a provider without idempotency keys, so that a caller has to find its lost job. */
  ignore_idempotency_key?: boolean;
  /** Model names by endpoint id. A reply names the model instead of the endpoint id. */
  endpoints?: Record<string, string>;
  list?: ListFault;
}

type Check = (value: unknown, path: string) => void;

/** Ten weeks: longer than any job lives, so it can also mean "never". */
const SECONDS_MAX = 6_000_000;
const DAY_S = 86_400;
const FAULTS_MAX = 100;

const seconds = number(0, SECONDS_MAX);
const byteCount = integer(0, 100_000_000_000);
const fault = { status: integer(200, 599), code: text, times: integer(0, 1_000_000) };

const createFault: Record<keyof CreateFault, Check> = {
  ...fault,
  lose_reply: boolean,
  delay_s: seconds,
  reset: boolean,
  html: boolean,
  retry_after: seconds,
};

const resultFault: Record<keyof ResultFault, Check> = {
  ...fault,
  stop_after_bytes: byteCount,
  claim_bytes: byteCount,
  no_length: boolean,
  bytes_per_s: number(1, 1_000_000_000),
  size_bytes: byteCount,
};

const listFault: Record<keyof ListFault, Check> = {
  empty: boolean,
  items_max: integer(0, 500),
  order: word(LIST_ORDERS),
  page_shift: integer(-500, 500),
  field_every_s: seconds,
};

const jobNames: Record<keyof Script, Check> = {
  render: word(['none', 'full']),
  queue_s: seconds,
  run_s: seconds,
  end: word(ENDS),
  code: text,
  message: text,
  tokens: integer(0, 1_000_000_000),
  usage: boolean,
  url: boolean,
  link_life_s: number(0, DAY_S),
  backwards: boolean,
  listed_after_s: seconds,
  create: oneOrMore(createFault),
  result: oneOrMore(resultFault),
  enhance: (value, path) => {
    const { enhance: _nested, ...inner } = jobNames;
    checkNames(value, path, inner);
  },
};

const globalNames: Record<keyof GlobalScript, Check> = {
  ...jobNames,
  ignore_idempotency_key: boolean,
  endpoints: (value, path) => {
    if (!isObject(value)) throw invalid(path, 'it must be an object');
    for (const [name, model] of Object.entries(value)) text(model, `${path}.${name}`);
  },
  list: (value, path) => checkNames(value, path, listFault),
};

export function parseScript(value: unknown): Script {
  if (value === undefined || value === null) return {};
  checkNames(value, 'studio', jobNames);
  return value as Script;
}

export function parseGlobalScript(value: unknown): GlobalScript {
  if (value === undefined || value === null) return {};
  checkNames(value, 'script', globalNames);
  return value as GlobalScript;
}

/** Names in the request's own script replace the global ones; `create` is replaced as a whole. */
export function mergeScripts(everywhere: Script, own: Script): Script {
  return { ...everywhere, ...own };
}

/** A job that succeeds gets a real video unless its script says otherwise. */
export function isRendered(script: Script): boolean {
  return script.render !== 'none' && (script.end ?? 'succeeded') === 'succeeded';
}

function oneOrMore(checks: Record<string, Check>): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return checkNames(value, path, checks);
    if (value.length > FAULTS_MAX) throw invalid(path, `at most ${FAULTS_MAX} faults are taken`);
    for (const [at, one] of value.entries()) checkNames(one, `${path}[${at}]`, checks);
  };
}

function checkNames(value: unknown, path: string, checks: Record<string, Check>): void {
  if (!isObject(value)) throw invalid(path, 'it must be an object');
  for (const [name, part] of Object.entries(value)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const known = Object.keys(checks).join(', ');
    if (!check) throw invalid(`${path}.${name}`, `unknown name; known are ${known}`);
    check(part, `${path}.${name}`);
  }
}

function boolean(value: unknown, path: string): void {
  if (typeof value !== 'boolean') throw invalid(path, 'it must be true or false');
}

function text(value: unknown, path: string): void {
  if (typeof value !== 'string' || value === '') throw invalid(path, 'it must be a string');
}

function number(min: number, max: number): Check {
  return (value, path) => {
    const fits = typeof value === 'number' && value >= min && value <= max;
    if (!fits) throw invalid(path, `it must be a number from ${min} to ${max}`);
  };
}

function integer(min: number, max: number): Check {
  return (value, path) => {
    const fits = Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
    if (!fits) throw invalid(path, `it must be an integer from ${min} to ${max}`);
  };
}

function word(words: readonly string[]): Check {
  return (value, path) => {
    if (!words.includes(String(value)))
      throw invalid(path, `it must be one of ${words.join(', ')}`);
  };
}
