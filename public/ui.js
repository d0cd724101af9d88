// The one place that knows which library draws the page.

import htm from './vendor/htm.js';
import { h, render } from './vendor/preact.js';

export { useCallback, useEffect, useMemo, useRef, useState } from './vendor/hooks.js';
export const html = htm.bind(h);
export { render };

let lastId = 0;

/** For labels and the fields they name. */
export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
