// Describes why a text is not JSON, with line and column. Only called after JSON.parse refused the
// text, so it decides nothing.

import { type ParseErrorCode, visit } from 'jsonc-parser';

// The package exports its codes as a const enum, which a module compiled in isolation cannot read.
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
  const plain = 'it is not valid JSON';
  try {
    visit(
      text,
      {
        onError(code, offset, _length, line, column) {
          throw new FirstFault(code, offset, line + 1, column + 1);
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
  } catch (error) {
    // Thousands of brackets overflow the parser's stack; the message then names no position.
    if (error instanceof FirstFault) return `${plain}: ${error.describe(text)}`;
  }
  return plain;
}

class FirstFault extends Error {
  constructor(
    private readonly fault: ParseErrorCode,
    private readonly offset: number,
    private readonly line: number,
    private readonly column: number,
  ) {
    super();
  }

  describe(text: string): string {
    const found = String.fromCodePoint(text.codePointAt(this.offset) ?? 0);
    const atEnd = this.offset >= text.length;
    const what = atEnd ? 'it ends too early' : `unexpected ${JSON.stringify(found)}`;
    return `${sentences[this.fault] ?? what} at line ${this.line}, column ${this.column}`;
  }
}
