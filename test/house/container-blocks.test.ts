// Checks that the tests on a container engine, which run seldom, find their blocks in the pages.

import { blockWith, inlineWith } from '../containers/page';
import { filesIn, read } from './sources';

const finders = { blockWith, inlineWith };
const literal = String.raw`'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"`;
const call = new RegExp(String.raw`\b(blockWith|inlineWith)\(\s*(${literal}|\w*)`, 'g');
const wanted = filesIn('test/containers', '.ts')
  .filter((path) => path !== 'test/containers/page.ts')
  .flatMap((path) => {
    const code = read(path);
    return [...code.matchAll(call)].map(([, finder, word = '']) => ({
      finder: finder as keyof typeof finders,
      text: textOf(/^['"]/.test(word) ? word : constantIn(code, word)),
    }));
  });

test('the containers need some blocks of the pages', () => {
  expect(wanted.length).toBeGreaterThan(15);
});

test.each(wanted)('$finder finds exactly one block with: $text', ({ finder, text }) => {
  expect(() => finders[finder](text)).not.toThrow();
});

/** The literal that the code gives to this name. */
function constantIn(code: string, name: string): string {
  const found = new RegExp(String.raw`\bconst ${name} = (${literal});`).exec(code);
  if (!found) throw new Error(`The code does not show the words of a block ("${name}").`);
  return found[1] ?? '';
}

function textOf(written: string): string {
  return written.slice(1, -1).replaceAll(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one));
}
