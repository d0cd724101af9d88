// Makes the input of a command from a request. The fields become the words of a command line, and
// the parser of the command line reads them. So both accept the same, and the line in the log of
// operators is one that the command line accepts.

import {
  type AdminCommand,
  type Input,
  optionsOf,
  readInput,
} from '../commands/admin/command-line';
import { resembled } from '../contract/near-names';
import { ConsoleRefusal, camelCase } from './refusal';
import type { Route } from './routes';

export interface Given {
  readonly params: Readonly<Record<string, string>>;
  /** The body of a POST, or the query of any other request. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Field {
  /** The name over HTTP. */
  readonly name: string;
  /** The name of the option or operand. */
  readonly word: string;
  readonly isOperand: boolean;
  readonly isFlag: boolean;
  readonly isRequired: boolean;
  readonly about: string;
}

/** The fields of a route, besides the words of its path. The caller cannot choose `as`. */
export function fieldsOf({
  command,
  http,
  path,
}: Pick<Route, 'command' | 'http' | 'path'>): Field[] {
  const inPath = path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
  const hidden = [...inPath, ...(http.without ?? []), 'as'];
  const operands = operandsOf(command).map(({ word, isRequired }) => ({
    ...{ word, isOperand: true, isFlag: false, isRequired },
    about: word.toLowerCase(),
  }));
  const options = Object.entries(optionsOf(command)).map(([word, { value, required, about }]) => ({
    ...{ word, isOperand: false, isFlag: value === undefined, about },
    isRequired: required === true || http.requires?.includes(word) === true,
  }));
  return [...operands, ...options]
    .filter(({ word }) => !hidden.includes(word))
    .map((field) => ({
      ...field,
      name: camelCase(field.word),
      isRequired: field.isRequired || (field.word === 'why' && http.asksWhy === true),
    }));
}

/** The input of the route's command. Throws a refusal that names the wrong field. */
export function inputOf(route: Route, given: Given): Input {
  const fields = fieldsOf(route);
  const names = fields.map(({ name }) => name);
  for (const name of Object.keys(given.fields)) {
    if (names.includes(name)) continue;
    const meant = resembled(name, names);
    const hint =
      meant === undefined
        ? `The fields are: ${names.join(', ') || 'none'}.`
        : `Did you mean ${meant}?`;
    throw new ConsoleRefusal('invalid_value', `There is no such field. ${hint}`, name.slice(0, 80));
  }
  const values = new Map<string, string>();
  for (const [word, value] of Object.entries(given.params)) {
    values.set(word, withoutNul(value, camelCase(word)));
  }
  for (const field of fields) {
    const text = textOf(field, given.fields[field.name]);
    if (text !== null) values.set(field.word, text);
    else if (field.isRequired) {
      throw new ConsoleRefusal(
        'missing_required_parameter',
        `${field.name} must be given.`,
        field.name,
      );
    }
  }
  const input = readInput(route.command, wordsOf(route.command, values));
  return names.includes('after') ? limited(input) : input;
}

/** Takes out `format`, which only lists have: `csv` sends all their pages as one file. */
export function withoutFormat({ http: { csv } }: Route, sent: Given['fields']) {
  const { format = 'json', ...fields } = sent;
  if (!csv || format === 'json') return { csv: null, fields: csv ? fields : sent };
  if (format === 'csv') return { csv, fields };
  throw new ConsoleRefusal('invalid_value', 'format is json or csv.', 'format');
}

const operandsOf = ({ operands = [], optional }: AdminCommand) => [
  ...operands.map((word) => ({ word, isRequired: true })),
  ...(optional === undefined ? [] : [{ word: optional, isRequired: false }]),
];

/** The text of a field, as a person would type it; null if it is absent, or a flag that is off. */
function textOf({ name, isFlag }: Field, value: unknown): string | null {
  if (value === undefined) return null;
  const wrong = (what: string) => new ConsoleRefusal('invalid_value', `${name} ${what}.`, name);
  if (isFlag) {
    if (value === true || value === 'true') return '';
    if (value === false || value === 'false') return null;
    throw wrong('is true or false');
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') throw wrong('is a text or a whole number, given once');
  if (value === '') throw wrong('is empty');
  return withoutNul(value, name);
}

/** PostgreSQL stores no such character. */
function withoutNul(text: string, name: string): string {
  if (!text.includes('\0')) return text;
  throw new ConsoleRefusal('invalid_value', `${name} contains the character U+0000.`, name);
}

function wordsOf(command: AdminCommand, values: ReadonlyMap<string, string>): readonly string[] {
  const names = operandsOf(command).map(({ word }) => word);
  const operands = names.flatMap((name) => values.get(name) ?? []);
  // The parser would take such a word for an option.
  if (operands.some((word) => /^--?[a-z]/i.test(word))) {
    throw new ConsoleRefusal('invalid_value', 'A word of the path cannot begin with a hyphen.');
  }
  const options = [...values].filter(([name]) => !names.includes(name));
  return [
    ...operands,
    ...options.map(([name, value]) => (value === '' ? `--${name}` : `--${name}=${value}`)),
  ];
}

const limitMax = 100;

/** A page over HTTP has at most a hundred rows; a command line may ask for more. */
function limited(input: Input): Input {
  if (Number(input.option('limit') ?? 1) <= limitMax) return input;
  const message = `limit is a whole number from 1 to ${limitMax}.`;
  throw new ConsoleRefusal('invalid_value', message, 'limit');
}
