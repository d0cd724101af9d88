// Describes why a text is not JSON, with line and column. This code runs only after the parser has
// refused the text. Only the parser decides whether a text is valid.

import { type ParseErrorCode, visit } from 'jsonc-parser';

// The package exports its error codes as a const enum. A module that is compiled in isolation
// cannot read a const enum, so the numbers are repeated here.
const sentences: Readonly<Record<number, string>> = {
  12: 'a string that does not end on its line',
  13: 'an incomplete number',
  14: 'a bad \\u escape in a string',
  15: 'a bad escape in a string',
  16: 'a control character in a string',
};

/**
 * Returns part of a sentence, such as `it is not valid JSON: unexpected "}" at line 1, column 34`.
 */
export function jsonFault(text: string): string {
  let found: string | undefined;
  const onError = (
    code: ParseErrorCode,
    offset: number,
    _length: number,
    line: number,
    column: number,
  ) => {
    const char = JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0));
    const what = offset >= text.length ? 'it ends too early' : `unexpected ${char}`;
    found = `: ${sentences[code] ?? what} at line ${line + 1}, column ${column + 1}`;
    throw new Error('Only the first fault is described.');
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch {
    // `onError` threw to end the visit after the first fault.
  }
  return `it is not valid JSON${found ?? ''}`;
}
