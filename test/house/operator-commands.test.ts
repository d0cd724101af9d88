// Checks the commands that the pages give to an operator: each `admin` command exists with its options.

import { adminCommands } from '../../src/commands/admin';
import { blocksOf } from '../support/markdown';
import { filesIn, read } from './sources';

const pages = ['README.md', 'deploy/helm/README.md', ...filesIn('docs', '.md')];

describe('admin commands', () => {
  const named = pages.flatMap((page) =>
    commandsIn(read(page)).map((words) => [page, words] as const),
  );

  test.each(named)('in %s: the command `admin %s` exists with these options', (_, words) => {
    const command = adminCommands.find(({ name }) => `${words} `.startsWith(`${name} `));
    expect(command).toBeDefined();
    const options = [...words.matchAll(/ --([a-z-]+)/g)].map(([, option = '']) => option);
    const known = [...Object.keys(command?.options ?? {}), 'json', 'as', 'why'];
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
    // A page may mention a command without any options. Required options are then not checked.
    const required = Object.entries(command?.options ?? {}).filter(([, one]) => one.required);
    const missing = required.filter(([option]) => options.length > 0 && !options.includes(option));
    expect(missing.map(([option]) => option)).toEqual([]);
  });
});

/** Returns the words after `admin` in code spans and in lines of code blocks. */
function commandsIn(text: string): string[] {
  const spans = [...text.matchAll(/`(?:npm run -s admin -- |admin )([a-z][^`]*)`/g)];
  const shell = blocksOf(text).filter(({ language }) => language === 'sh');
  const lines = shell.flatMap(({ text }) => [
    ...text.matchAll(/^(?:.*(?:npm run -s admin -- |run --rm admin )|admin )([a-z].*)$/gm),
  ]);
  return [...spans, ...lines]
    .map(([, words = '']) =>
      words
        .replace(/\s+#.*$/, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((words) => !words.startsWith('help') && !isGroup(words));
}

function isGroup(words: string): boolean {
  return adminCommands.some(({ name }) => name.startsWith(`${words} `));
}
