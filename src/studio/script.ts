/*
 * The stage directions: how a single job shall behave, written by a test into the field `studio` of
 * a create request, or set for all jobs through the admin endpoint. Unknown names are refused,
 * since a misspelt direction would make a test pass for the wrong reason. docs/studio.md describes
 * them.
 */

import { isObject } from './http';
import { invalid } from './protocol-error';

const ENDS = ['succeeded', 'failed', 'expired', 'cancelled'] as const;
type End = (typeof ENDS)[number];

/** Faults of the create call itself; they apply to the first `times` attempts of one caller. */
export interface CreateFault {
  lose_reply?: boolean;
  delay_s?: number;
  reset?: boolean;
  html?: boolean;
  status?: number;
  code?: string;
  times?: number;
  retry_after?: number;
}

export interface Script {
  render?: 'none' | 'full';
  queue_s?: number;
  run_s?: number;
  end?: End;
  code?: string;
  message?: string;
  tokens?: number;
  usage?: boolean;
  url?: boolean;
  backwards?: boolean;
  create?: CreateFault;
  /** Directions for the enhancement that follows; a gateway hands them on to the enhancer. */
  enhance?: Script;
}

export interface GlobalScript extends Script {
  /** Plays a service that knows no such header, so that looking a job up can be tested. */
  ignore_idempotency_key?: boolean;
}

type Check = (value: unknown, path: string) => void;

/** Ten weeks: longer than any job lives, so a direction can also mean "never". */
const SECONDS_MAX = 6_000_000;

const seconds = number(0, SECONDS_MAX);

const createFault: Record<keyof CreateFault, Check> = {
  lose_reply: boolean,
  delay_s: seconds,
  reset: boolean,
  html: boolean,
  status: integer(200, 599),
  code: text,
  times: integer(0, 1_000_000),
  retry_after: seconds,
};

const direction: Record<keyof Script, Check> = {
  render: word(['none', 'full']),
  queue_s: seconds,
  run_s: seconds,
  end: word(ENDS),
  code: text,
  message: text,
  tokens: integer(0, 1_000_000_000),
  usage: boolean,
  url: boolean,
  backwards: boolean,
  create: (value, path) => checkNames(value, path, createFault),
  enhance: (value, path) => {
    const { enhance: _nested, ...inner } = direction;
    checkNames(value, path, inner);
  },
};

export function parseScript(value: unknown): Script {
  if (value === undefined || value === null) return {};
  checkNames(value, 'studio', direction);
  return value as Script;
}

export function parseGlobalScript(value: unknown): GlobalScript {
  if (value === undefined || value === null) return {};
  checkNames(value, 'script', { ...direction, ignore_idempotency_key: boolean });
  return value as GlobalScript;
}

/** The request's own directions win, name by name; `create` counts as one name. */
export function mergeScripts(everywhere: Script, own: Script): Script {
  return { ...everywhere, ...own };
}

/** A job that ends well gets a real video unless its script says otherwise. */
export function isRendered(script: Script): boolean {
  return script.render !== 'none' && (script.end ?? 'succeeded') === 'succeeded';
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
