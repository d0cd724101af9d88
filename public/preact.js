// The only module that imports the view library. All other modules use only the names that this
// module exports.

import htm from './vendor/htm.js';
import { h, render } from './vendor/preact.js';

export {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from './vendor/hooks.js';
export const html = htm.bind(h);
export { render };

let lastId = 0;

/** A unique id that connects a label with its field. */
export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
