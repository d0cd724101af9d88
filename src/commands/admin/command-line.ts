// The type of an admin command, and the parser of its words. A dash followed by a digit begins an
// amount, not an option. A negative amount then gets an error that explains amounts.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import type { Config } from '../../config/config';
import type { Subject } from '../../database/operator-log';
import type { OperatorRole } from '../../operators/roles.rules';
import { CommandError } from '../command';

export interface AdminContext {
  readonly config: Config;
  readonly now: () => number;
  /** Who does it, for the log. */
  readonly who: string;
  /** The role of the caller. A command line has the rights of its database role, so it is an owner. */
  readonly role: OperatorRole;
  /**
   * If the command changes something, `db` returns the transaction that also writes the log row.
   * Otherwise `db` returns the database without a transaction.
   */
  readonly db: () => Knex;
  /** The database outside that transaction, for use in `afterwards`. */
  readonly committed: () => Knex;
  /** Returns a client that connects at its first use. Throws if Temporal is not configured. */
  readonly temporal: () => Client;
}

export interface Answer {
  /** What `answerBody` shows. */
  readonly data: unknown;
  /** Printed without `--json`. */
  readonly text: string;
  /** Printed to standard error, with and without `--json`. */
  readonly remark?: string;
  /** 1 if the command ran but not all is in order, for example if the audit finds differences. */
  readonly exitCode?: 0 | 1;
  /**
   * What the command changed, for the log of operators: from what to what, or that nothing was
   * changed. It contains no secret. A command that changes something must say it.
   */
  readonly effect?: string;
  /** The id of what the command created. */
  readonly created?: string;
  /** The `--after` of the next page of a list; absent after the last page. */
  readonly next?: string;
  /**
   * Runs after the commit. The answer of `afterwards` is printed instead of the first answer.
   * `logged` runs further changes in a second transaction, which also writes a row of the admin
   * log.
   */
  readonly afterwards?: (logged: Logged) => Promise<Answer>;
}

/** The answer to a program, with `--json` and over HTTP. */
export function answerBody({ data, next, remark }: Answer): Readonly<Record<string, unknown>> {
  return { data, ...(next === undefined ? {} : { next }), ...(remark ? { remark } : {}) };
}

export type Logged = (work: (trx: Knex.Transaction) => Promise<Answer>) => Promise<Answer>;

export interface Option {
  /** The placeholder for the value in the help. An option without a placeholder is a flag. */
  readonly value?: string;
  readonly about: string;
  readonly required?: boolean;
}

/** The route of a command in the admin API. */
export interface HttpRoute {
  /**
   * The method, and the path below `/admin/v1`. In it `:ID` is an operand, and `:account` is the
   * option of this name.
   */
  readonly at: `${'GET' | 'POST' | 'DELETE'} /${string}`;
  /** Who may call it: this role, or one that includes it. */
  readonly role: OperatorRole;
  /** True if the call must say why, for the log of operators. */
  readonly asksWhy?: true;
  /** Options that a call must have, and a command line need not. */
  readonly requires?: readonly string[];
  /** The longest body in bytes, if it is more than usual. */
  readonly bodyBytesMax?: number;
  /** Options and operands that only a command line has. */
  readonly without?: readonly string[];
  /** The list as CSV, for calls with `format=csv`. */
  readonly csv?: CsvOf;
}

export interface CsvOf {
  /** Paths of the values in a row, such as `task.billing.held`; all values of the rows if absent. */
  readonly columns?: readonly string[];
  /** The name of the rows, if the data are not the rows themselves. */
  readonly rows?: string;
  /** Makes the whole file, if it is more than rows. */
  readonly whole?: (data: unknown) => string;
}

export interface AdminCommand {
  /** The words that an operator types, such as `accounts create`. */
  readonly name: string;
  /** The required words after the name. */
  readonly operands?: readonly string[];
  /** A word after the operands that may be left out. */
  readonly optional?: string;
  readonly options?: Readonly<Record<string, Option>>;
  readonly about: string;
  /** The route of the command, or the reason why only a command line has it. */
  readonly http: HttpRoute | { readonly none: string };
  /** True if the command needs no database. */
  readonly isOffline?: boolean;
  /**
   * Returns what the command changes with this input, for the log of operators. Returns null if the
   * command only reads; the database then refuses all writes. A command without this function also
   * counts as reading only, unless `migrates` is true.
   */
  readonly changes?: (input: Input) => Subject | null;
  /** True if the command changes the schema. Such a command also runs on an outdated schema. */
  readonly migrates?: boolean;
  /**
   * Checks other systems before the transaction begins: a request must not keep it open. Throws if
   * the command must not run.
   */
  check?(context: AdminContext, input: Input): Promise<void>;
  run(context: AdminContext, input: Input): Promise<Answer>;
}

export interface Input {
  operand(name: string): string;
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** The command for the log of operators. It can be pasted into a shell. */
  readonly line: string;
}

/** Takes out `--json` and `--help`, which every command has. They may stand anywhere. */
export function takeFlags(args: readonly string[]) {
  const isHelp = (word: string) => word === '--help' || word === '-h';
  return {
    json: args.includes('--json'),
    help: args.some(isHelp),
    words: args.filter((word) => word !== '--json' && !isHelp(word)),
  };
}

const logOptions = {
  as: { value: 'NAME', about: 'who does it, for the log; the login when left out' },
  why: { value: 'TEXT', about: 'why, for the log' },
} as const;

/** The options of a command. A command that changes something also has `--as` and `--why`. */
export function optionsOf({ options, changes }: AdminCommand): Readonly<Record<string, Option>> {
  return { ...options, ...(changes ? logOptions : {}) };
}

/** What a command changes whose operand ID names an account. */
export const changesAccount = (input: Input) =>
  ({ kind: 'account', id: input.operand('ID') }) as const;

/** Parses the words after a command's name. Throws an error with exit code 2 if a word is wrong. */
export function readInput(command: AdminCommand, words: readonly string[]): Input {
  const { operands = [] } = command;
  const options = optionsOf(command);
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
    const isFlag = options[name]?.value === undefined;
    if (isFlag && inline !== undefined) throw wrongUse(command, `--${name} takes no value.`);
    const value = isFlag ? '' : (inline ?? rest.shift());
    if (value === undefined || (inline === undefined && value.startsWith('--'))) {
      throw wrongUse(command, `--${name} needs ${options[name]?.value}.`);
    }
    if (values.has(name)) throw wrongUse(command, `--${name} is given twice.`);
    values.set(name, value);
  }
  const names = command.optional === undefined ? operands : [...operands, command.optional];
  if (given.length > names.length) {
    throw wrongUse(command, `"${given[names.length]}" is one word too many.`);
  }
  const absent = operands.slice(given.length);
  if (absent.length > 0) throw wrongUse(command, `${absent.join(' and ')} must be given.`);
  for (const [name, { required }] of Object.entries(options)) {
    if (required && !values.has(name)) throw wrongUse(command, `--${name} must be given.`);
  }
  return {
    operand: (name) => given[names.indexOf(name)] ?? '',
    option: (name) => values.get(name),
    flag: (name) => values.has(name),
    line: lineOf(command.name, given, values),
  };
}

/** Quotes a word for a shell, in which nothing has a meaning between single quotes. */
function quoted(word: string): string {
  return /^[\w.,:@/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function lineOf(
  name: string,
  given: readonly string[],
  values: ReadonlyMap<string, string>,
): string {
  const options = [...values].filter(([option]) => !Object.hasOwn(logOptions, option));
  const words = options.map(([option, value]) => {
    if (value === '') return `--${option}`;
    // The parser would take such a value for an option.
    return `--${option}${value.startsWith('-') ? '=' : ' '}${quoted(value)}`;
  });
  return [name, ...given.map(quoted), ...words].join(' ');
}

export function usageOf({ name, operands = [], optional, options = {} }: AdminCommand): string {
  const words = Object.entries(options).map(([option, { value, required }]) => {
    const word = optionWord(option, value);
    return required ? word : `[${word}]`;
  });
  const last = optional === undefined ? [] : [`[${optional}]`];
  return [name, ...operands, ...last, ...words].join(' ');
}

export function optionWord(name: string, value: string | undefined): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function wrongUse(command: AdminCommand, fault: string): CommandError {
  return new CommandError(`${fault}\nUsage: admin ${usageOf(command)} [--json]`, 2);
}
