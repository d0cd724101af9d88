// The only module that imports the view library.

import htm from './vendor/htm.js';
import { h, render } from './vendor/preact.js';

export { useCallback, useEffect, useMemo, useRef, useState } from './vendor/hooks.js';
export const html = htm.bind(h);
export { render };

let lastId = 0;

/** An id that ties a label to its field. */
export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
