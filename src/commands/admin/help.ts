// Prints help on all commands, on the commands of one group, or on one command with its options.

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
  if (shown.length === 0) {
    throw new CommandError(`There is no command "${group}".\n\n${helpOn(commands, []).text}`, 2);
  }
  const lines = shown.flatMap(linesOn);
  const usage = `Usage: admin ${group ?? '<command>'} …`;
  return { data: shown.map(described), text: [usage, '', ...lines, '', about].join('\n') };
}

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
