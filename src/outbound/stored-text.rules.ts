// The only way from a text of another system to a text that is stored.

// Control characters, except for tabs and line breaks.
const control = /[^\P{Cc}\t\n\r]/gu;

/**
 * Cuts the text, and then removes what PostgreSQL cannot store or what no reader should get: NUL and
 * other control characters. Half of a surrogate pair is replaced. The cut comes first, because it can
 * split a pair. One such text would make the statement of all rows fail.
 */
export function storedText(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed().replace(control, '');
}
