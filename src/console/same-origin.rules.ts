// Finds requests that another site made a browser send. A cookie does not tell who asked for a
// request: a page on another port of the same host is "same-site", so even a Strict cookie is sent
// with its request. Browsers say in `Sec-Fetch-Site` which page asked, and no page can change this.

export interface Sender {
  readonly method: string;
  /** The headers `Sec-Fetch-Site` and `Origin`; undefined if absent. */
  readonly site: string | undefined;
  readonly origin: string | undefined;
}

/** True if a page of another origin may have caused the request. Asked if the cookie counts. */
export function isForged({ method, site, origin }: Sender, ownOrigin: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  // A sign-in at another address of the console must not set a cookie there.
  if (!isRead && origin !== undefined && origin !== ownOrigin) return true;
  // `none`: a person typed the address or opened a bookmark. Neither sends anything but a GET.
  if (site !== undefined) return site !== 'same-origin' && !(isRead && site === 'none');
  return !isRead && origin !== ownOrigin;
}
