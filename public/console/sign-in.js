// The sign-in: exchanges the key of an operator for a session. The page keeps no key.

import { Text } from '../controls.js';
import { html, useState } from '../preact.js';
import { signIn } from './api.js';
import { useTitle } from './parts.js';

export function SignIn({ onSignedIn }) {
  const [key, setKey] = useState('');
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  useTitle('Sign in');
  const submit = async (event) => {
    event.preventDefault();
    if (!key.trim()) return setFault('Paste the key of an operator.');
    setBusy(true);
    setFault('');
    try {
      await signIn(key.trim());
      onSignedIn();
    } catch (error) {
      setFault(error.status === 401 ? 'This key is not valid.' : error.message);
      setBusy(false);
    }
    return undefined;
  };
  return html`
    <main class="sign-in">
      <h1>Console</h1>
      <form onSubmit=${submit} novalidate>
        <${Text} label="Key of an operator" name="key" type="password" autocomplete="off"
          spellcheck="false" placeholder="vo_…" value=${key} onValue=${setKey} fault=${fault}
          autofocus />
        <button class="primary" disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button>
      </form>
      <p class="small"><code>admin operators add</code> makes a key.</p>
    </main>
  `;
}
