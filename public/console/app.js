// The root of the console: sign-in, header, and the view that the address names. After a session has
// ended, the sign-in leads back to the same address.

import { Theme } from '../header.js';
import { useRead } from '../hooks.js';
import { html, render, useMemo, useState } from '../preact.js';
import { createApi, signOut } from './api.js';
import { AttentionPage } from './attention.js';
import { CallbacksPage } from './callbacks.js';
import { ChannelsPage } from './channels/channels.js';
import { CustomerPage } from './customer/customer.js';
import { CustomersPage } from './customers.js';
import { isPaused, Keyboard } from './keyboard.js';
import { LogPage } from './log/log.js';
import { Lost, State } from './parts.js';
import { useAddress } from './route.js';
import { FindPage, SearchBox } from './search.js';
import { SignIn } from './sign-in.js';
import { TaskPage } from './task.js';
import { TasksPage } from './tasks.js';
import { UsagePage } from './usage.js';

function App() {
  const [isIn, setIn] = useState(true);
  if (!isIn) return html`<${SignIn} onSignedIn=${() => setIn(true)} />`;
  return html`<${Workbench} onSignedOut=${() => setIn(false)} />`;
}

function Workbench({ onSignedOut }) {
  const api = useMemo(() => createApi(onSignedOut), []);
  const { view, id, query } = useAddress();
  const me = useRead(api, '/me', 60_000, isPaused);
  const [fault, setFault] = useState('');
  const leave = async () => {
    setFault('');
    try {
      await signOut();
      onSignedOut();
    } catch (error) {
      setFault(`You are still signed in. ${error.message}`);
    }
  };
  const shared = { api, me: me.value?.data };
  return html`
    <header class="top">
      <a class="brand" href="#/attention">Console</a>
      <nav aria-label="Pages">
        ${pages.map(
          ([name, title]) => html`<a key=${name} href=${`#/${name}`}
            aria-current=${view === name ? 'page' : undefined}>${title}</a>`,
        )}
      </nav>
      <${SearchBox} />
      <span class="me">${me.value ? `${me.value.data.name}, ${me.value.data.role}` : '…'}</span>
      <${Theme} />
      <button type="button" class="quiet" onClick=${leave}>Sign out</button>
    </header>
    ${fault && html`<p class="banner" role="alert">${fault}</p>`}
    <${Lost} lost=${me.value && me.lost} isOld=${true} />
    <${Keyboard} />
    ${me.value ? pageOf(view, id, query, shared) : html`<main><h1 class="unseen">Console</h1><${State} of=${me} /></main>`}
  `;
}

const pages = [
  ['attention', 'Attention'],
  ['tasks', 'Tasks'],
  ['customers', 'Customers'],
  ['usage', 'Usage'],
  ['channels', 'Channels'],
  ['log', 'Log'],
];

function pageOf(view, id, query, shared) {
  if (view === 'attention') return html`<${AttentionPage} ...${shared} />`;
  if (view === 'find') return html`<${FindPage} query=${query} ...${shared} />`;
  if (view === 'tasks' && id) return html`<${TaskPage} key=${id} id=${id} ...${shared} />`;
  if (view === 'tasks') return html`<${TasksPage} query=${query} ...${shared} />`;
  if (view === 'callbacks') return html`<${CallbacksPage} query=${query} ...${shared} />`;
  if (view === 'channels') return html`<${ChannelsPage} ...${shared} />`;
  if (view === 'usage') return html`<${UsagePage} query=${query} ...${shared} />`;
  if (view === 'customers' && id) {
    return html`<${CustomerPage} key=${id} ...${{ id, query }} ...${shared} />`;
  }
  if (view === 'customers') return html`<${CustomersPage} query=${query} ...${shared} />`;
  if (view === 'log') return html`<${LogPage} query=${query} ...${shared} />`;
  return html`<main><h1>Nothing here</h1><p><a href="#/tasks">Tasks</a></p></main>`;
}

const place = document.getElementById('app');
place.replaceChildren();
render(html`<${App} />`, place);
