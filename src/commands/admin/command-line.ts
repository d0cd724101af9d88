// The admin command line as a form: what a command is, how its words are taken apart, and what can
// be wrong with them. A word that begins with a dash and a digit is an amount and no option, so
// that it is refused for what it is.

import type { Knex } from 'knex';
import type { Config } from '../../config';
import type { Engine } from '../../temporal';
import { CommandError } from '../command';
import type { EngineClient } from './engine';

export interface AdminContext {
  readonly config: Config;
  readonly now: () => number;
  /** Opened when first asked for, closed at the end. */
  readonly db: () => Knex;
  readonly engine: () => Engine;
  /**
   * The engine's own client, connected; rejects with a sentence when the engine does not answer.
   */
  readonly engineClient: () => Promise<EngineClient>;
}

export interface Answer {
  /** What `--json` prints. */
  readonly data: unknown;
  /** What a person reads instead. */
  readonly text: string;
  /** 1: the thing asked for is not so. */
  readonly exitCode?: 0 | 1;
}

interface Option {
  /** What stands for its value in the help. */
  readonly value: string;
  readonly about: string;
  readonly required?: boolean;
}

export interface AdminCommand {
  /** As it is typed: `accounts create`. */
  readonly name: string;
  /** What must follow the name, all of it. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  readonly about: string;
  /** Works on a schema that is not up to date. */
  readonly migrates?: boolean;
  run(context: AdminContext, input: Input): Promise<Answer>;
}

export interface Input {
  operand(name: string): string;
  option(name: string): string | undefined;
}

/** Everybody's options; they may stand anywhere. */
interface Flags {
  readonly json: boolean;
  readonly help: boolean;
}

export function takeFlags(args: readonly string[]): Flags & { readonly words: readonly string[] } {
  const isHelp = (word: string) => word === '--help' || word === '-h';
  return {
    json: args.includes('--json'),
    help: args.some(isHelp),
    words: args.filter((word) => word !== '--json' && !isHelp(word)),
  };
}

/** The words after a command's name; every fault is a sentence and ends with exit code 2. */
export function readInput(command: AdminCommand, words: readonly string[]): Input {
  const { operands, options } = command;
  const given: string[] = [];
  const values = new Map<string, string>();
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name, inline] = /^--?([a-z][\w-]*)(?:=(.*))?$/is.exec(word) ?? [];
    if (name === undefined) {
      given.push(word);
      continue;
    }
    if (!Object.hasOwn(options, name)) throw wrongUse(command, `There is no option ${word}.`);
    const value = inline ?? rest.shift();
    if (value === undefined || (inline === undefined && value.startsWith('--'))) {
      throw wrongUse(command, `--${name} needs ${options[name]?.value}.`);
    }
    if (values.has(name)) throw wrongUse(command, `--${name} is given twice.`);
    values.set(name, value);
  }
  if (given.length > operands.length) {
    throw wrongUse(command, `"${given[operands.length]}" is one word too many.`);
  }
  const absent = operands.slice(given.length);
  if (absent.length > 0) throw wrongUse(command, `${absent.join(' and ')} must be given.`);
  for (const [name, { required }] of Object.entries(options)) {
    if (required && !values.has(name)) throw wrongUse(command, `--${name} must be given.`);
  }
  return {
    operand: (name) => given[operands.indexOf(name)] ?? '',
    option: (name) => values.get(name),
  };
}

export function usageOf({ name, operands, options }: AdminCommand): string {
  const words = Object.entries(options).map(([option, { value, required }]) =>
    required ? `--${option} ${value}` : `[--${option} ${value}]`,
  );
  return [name, ...operands, ...words].join(' ');
}

function wrongUse(command: AdminCommand, fault: string): CommandError {
  return new CommandError(`${fault}\nUsage: admin ${usageOf(command)} [--json]`, 2);
}
