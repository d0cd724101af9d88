// The sign-in page. It checks an API key by reading the account of the key.

import { createApi, Unreachable } from './api.js';
import { Text } from './controls.js';
import { html, useState } from './preact.js';

const wrongKey =
  'This key is not valid. Check that it was copied whole; an expired or revoked key does not work.';

export function SignIn({ onKey, notice }) {
  const [key, setKey] = useState('');
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    const tried = key.trim();
    if (!tried) return setFault('Paste an API key.');
    // No other characters can be sent in a header.
    if (!/^[\x21-\x7e]+$/.test(tried)) return setFault(wrongKey);
    setBusy(true);
    setFault('');
    try {
      await createApi(tried).get('/v1/account');
      onKey(tried);
    } catch (error) {
      // The user cannot sign in with an invalid key or while the service is unreachable. Any other
      // error does not prevent the sign-in, and the next page shows that error.
      if (error.status === 401) setFault(wrongKey);
      else if (error instanceof Unreachable || error.status === 429) setFault(error.message);
      else onKey(tried);
      setBusy(false);
    }
    return undefined;
  };
  return html`
    <main class="sign-in">
      <img class="mark" src="/playground/icon.svg" alt="" width="56" height="56" />
      <h1>Words in,<br />film out.</h1>
      <p class="lead">Sign in with an API key to make a video and watch how it comes about.</p>
      <form onSubmit=${submit} novalidate>
        ${notice && html`<p class="notice" role="status">${notice}</p>`}
        <${Text}
          label="API key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck="false"
          placeholder="vk_…"
          value=${key}
          onValue=${setKey}
          fault=${fault}
          autofocus
        />
        <button class="primary" disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button>
      </form>
      <p class="small">
        <code>npm start</code> prints a key; in an installation your operator gives you one.
      </p>
      <p class="small">
        The key stays in this tab and is forgotten with it. <a href="/docs">API documentation</a>
      </p>
    </main>
  `;
}
