// The header of every page: the navigation, the available balance, and the buttons for the theme
// and for signing out.

import { money } from './format.js';
import { html, useEffect, useState } from './preact.js';
import { recall, remember } from './session.js';

const places = [
  ['create', 'Create'],
  ['tasks', 'Tasks'],
  ['library', 'Library'],
  ['account', 'Account'],
];

export function Header({ route, account, onLeave }) {
  const { available, currency } = account.value ?? {};
  return html`
    <header class="top">
      <a class="brand" href="#/create" aria-label="Playground">
        <img src="/playground/icon.svg" alt="" width="28" height="28" /><span>Playground</span>
      </a>
      <nav aria-label="Pages">
        ${places.map(
          ([view, title]) => html`
            <a key=${view} href=${`#/${view}`}
              aria-current=${route.view === view ? 'page' : undefined}>
              ${title}
            </a>
          `,
        )}
        <a href="/docs" class="wide">API docs</a>
      </nav>
      <a class="balance" href="#/account" title="Available balance">
        ${available === undefined ? '…' : money(available, currency)}
      </a>
      <${Theme} />
      <button type="button" class="quiet" onClick=${onLeave}>Sign out</button>
    </header>
  `;
}

/** The page follows the system's theme until the user chooses one. */
export function Theme() {
  const [theme, setTheme] = useState(() => recall('theme', ''));
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    remember('theme', theme || undefined);
  }, [theme]);
  const isDark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  return html`
    <button
      type="button"
      class="quiet round"
      aria-label=${isDark ? 'Use light colours' : 'Use dark colours'}
      onClick=${() => setTheme(isDark ? 'light' : 'dark')}
    >
      ${isDark ? '☀' : '☾'}
    </button>
  `;
}
