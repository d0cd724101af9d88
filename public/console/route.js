// The address of a view: `#/tasks?status=failed`. Filters are part of it, so that a reload, the back
// button and a link that is sent to a colleague show the same.

import { decoded } from '../hooks.js';
import { useEffect, useState } from '../preact.js';

export function useAddress() {
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const changed = () => setAddress(read());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return address;
}

function read() {
  const [path = '', query = ''] = location.hash.slice(1).split('?');
  const [, view = '', id = ''] = path.split('/');
  return { view: view || 'attention', id: decoded(id), query: new URLSearchParams(query) };
}

/** Changes one filter of the list and shows its first page. */
export function filter(view, query, name, value) {
  const next = new URLSearchParams(query);
  if (value) next.set(name, value);
  else next.delete(name);
  const text = next.toString();
  location.hash = `#/${view}${text ? `?${text}` : ''}`;
}
