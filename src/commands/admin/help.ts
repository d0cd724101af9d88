// Prints help on all commands, on the commands of one group, or on one command with its options.

import { resembled } from '../../contract/near-names';
import { CommandError } from '../command';
import { type AdminCommand, type Answer, optionsOf, optionWord, usageOf } from './command-line';

const about = `Every command takes --json, which prints one JSON document, and --help.
Commands that change something take --as NAME and --why TEXT, for the log of operators.
Exit codes: 0 done, 1 the thing asked for is not so, 2 wrong use.`;

export function helpOn(commands: readonly AdminCommand[], words: readonly string[]): Answer {
  const exact = [2, 1]
    .map((length) => words.slice(0, length).join(' '))
    .map((typed) => commands.find(({ name }) => name === typed))
    .find((command) => command !== undefined);
  if (exact) {
    const below = commands.filter(({ name }) => name.startsWith(`${exact.name} `));
    const text = [helpOnOne(exact), ...below.flatMap((one) => ['', ...linesOn(one)])].join('\n');
    return { data: described(exact), text };
  }
  const [group] = words;
  const shown = commands.filter(({ name }) => group === undefined || name.split(' ')[0] === group);
  if (shown.length === 0) throw unknownCommand(commands, words);
  const lines = shown.flatMap(linesOn);
  const usage = `Usage: admin ${group ?? '<command>'} …`;
  return { data: shown.map(described), text: [usage, '', ...lines, '', about].join('\n') };
}

/** Names the nearest command, or the commands of the group, in two lines. */
export function unknownCommand(
  commands: readonly AdminCommand[],
  words: readonly string[],
): CommandError {
  const options = words.findIndex((word) => word.startsWith('-'));
  const typed = words.slice(0, options < 0 ? 2 : Math.min(2, options));
  const names = commands.map(({ name }) => name);
  const [first = ''] = typed;
  const inGroup = names.filter((name) => name.startsWith(`${first} `));
  const near =
    resembled(typed.join(' '), names) ??
    resembled(first, names) ??
    names.find((name) => name.split(' ').includes(first));
  const listed = typed.length > 1 && near !== undefined ? [] : inGroup;
  const hint = listed.length > 0 ? `There is: ${listed.join(', ')}.` : meant(near);
  return new CommandError(`There is no command "${typed.join(' ')}".\n${hint}`, 2);
}

const meant = (near: string | undefined) =>
  `${near === undefined ? '' : `Did you mean "${near}"? `}"admin help" lists all commands.`;

const linesOn = (command: AdminCommand) => [`  ${usageOf(command)}`, `      ${command.about}`];

function helpOnOne(command: AdminCommand): string {
  const rows = Object.entries(optionsOf(command)).map(
    ([name, { value, about: sentence }]) => [optionWord(name, value), sentence] as const,
  );
  const width = Math.max(20, ...rows.map(([word]) => word.length));
  const options = rows.map(([word, sentence]) => `  ${word.padEnd(width)}  ${sentence}`);
  const lines = [`Usage: admin ${usageOf(command)} [--json]`, '', `  ${command.about}`];
  return [...lines, ...(options.length > 0 ? ['', ...options] : [])].join('\n');
}

const described = (command: AdminCommand) => ({
  command: command.name,
  usage: usageOf(command),
  about: command.about,
});
