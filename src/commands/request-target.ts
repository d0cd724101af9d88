// Gives a request one path. A client may write its target in other forms than `/path?query`. Without
// this, two readers of the same target could find different paths, and a limit would not apply.

import type { IncomingMessage } from 'node:http';

/** Removes the host of an absolute target, and the fragment. Node refuses all but printable ASCII. */
export function unifyTarget(request: IncomingMessage): void {
  const { url = '' } = request;
  // Nearly all targets have the usual form.
  if (url.startsWith('/') && !url.includes('#')) return;
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/#.*$/, '');
  request.url = path.startsWith('/') ? path : `/${path}`;
}
