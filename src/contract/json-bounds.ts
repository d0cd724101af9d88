// Measures the depth of a JSON text and counts its names and elements, before the text is parsed.
// Reading thousands of names takes ten milliseconds; counting takes less than one millisecond for
// any body.

// The maximum depth. The documented fields are nested four levels deep. 32 levels leave room for
// passed-through options, and are safe for recursive functions.
const depthMax = 32;
// The documented fields need a few dozen. Each later step takes time for every name.
const namesMax = 1_000;
// Elements of lists take far less time. The 32 KiB of passed-through options have room for so many.
const elementsMax = 17_000;

const code = {
  quote: 34,
  comma: 44,
  colon: 58,
  backslash: 92,
  openArray: 91,
  closeArray: 93,
  openObject: 123,
  closeObject: 125,
  space: 32,
} as const;

/**
 * Describes the limit that the text exceeds; null if the text exceeds no limit. The counts are
 * exact only for valid JSON.
 */
export function boundsFault(text: string): string | null {
  let depth = 0;
  // Names and elements.
  let items = 0;
  let names = 0;
  // True if the previous character that is not white space is an opening bracket.
  let isOpened = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char <= code.space) continue;
    const isClose = char === code.closeObject || char === code.closeArray;
    if (char === code.comma || (isOpened && !isClose)) items += 1;
    if (char === code.colon) names += 1;
    isOpened = char === code.openObject || char === code.openArray;
    if (isOpened) depth += 1;
    else if (isClose) depth -= 1;
    else if (char === code.quote) at = endOfString(text, at);
    if (depth > depthMax) return `it is nested more than ${depthMax} levels deep`;
    if (names > namesMax) return `it holds more than ${namesMax} names`;
    if (items - names > elementsMax) return `it holds more than ${elementsMax} elements of lists`;
  }
  return null;
}

/**
 * Returns the index of the closing quote of the string that begins at `start`. Returns the length
 * of the text if the string has no closing quote.
 */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === code.quote) return at;
    if (char === code.backslash) at += 1;
  }
  return text.length;
}
