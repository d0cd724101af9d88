// The root of the page: sign-in, and the view that the URL names. Each API key has its own
// `Workbench`, so a sign-in with another API key removes all state of the old session.

import { AccountPage } from './account.js';
import { createApi, loadSurroundings } from './api.js';
import { ComposePage } from './compose.js';
import { Header } from './header.js';
import { go, usePolled, useRead, useRoute } from './hooks.js';
import { LibraryPage } from './library.js';
import { html, render, useEffect, useMemo, useState } from './preact.js';
import { forgetEverything, recall, remember } from './session.js';
import { SignIn } from './sign-in.js';
import { Lost, State } from './state.js';
import { TaskPage } from './task.js';
import { TasksPage } from './tasks.js';

function App() {
  const [key, setKey] = useState(() => recall('key', ''));
  const [notice, setNotice] = useState('');
  const enter = (fresh) => {
    // The new session must not show the draft and the notes of the previous session.
    forgetEverything();
    remember('key', fresh);
    setNotice('');
    setKey(fresh);
  };
  const leave = (why = '') => {
    forgetEverything();
    setNotice(why);
    setKey('');
    go('create');
  };
  if (!key) return html`<${SignIn} onKey=${enter} notice=${notice} />`;
  return html`<${Workbench} key=${key} apiKey=${key} onLeave=${leave} />`;
}

function Workbench({ apiKey, onLeave }) {
  const api = useMemo(
    () => createApi(apiKey, { onSignedOut: () => onLeave('This key is not valid any more.') }),
    [apiKey],
  );
  const route = useRoute();
  const account = useRead(api, '/v1/account', 10_000);
  const models = useRead(api, '/v1/models', null);
  const surroundings = usePolled(loadSurroundings, () => null, []);
  const around = surroundings.value ?? { samples: [], workflows: null };
  // Uploads go on while the user visits another view.
  const [uploading, setUploading] = useState(0);
  const onUpload = (more) => setUploading((now) => now + more);
  const uploads = { uploading, onUpload };
  const shared = { api, around, account, uploads, models: models.value?.data };
  useEffect(() => scrollTo(0, 0), [route.view, route.id]);
  return html`
    <${Header} route=${route} account=${account} onLeave=${() => onLeave()} />
    <${Lost} lost=${models.value && account.lost} isOld=${true} />
    ${pageOf(route, shared, models)}
  `;
}

function pageOf({ view, id }, shared, models) {
  if (view === 'tasks' && id) return html`<${TaskPage} key=${id} id=${id} ...${shared} />`;
  if (view === 'tasks') return html`<${TasksPage} ...${shared} />`;
  if (view === 'library') return html`<${LibraryPage} ...${shared} />`;
  if (view === 'account') return html`<${AccountPage} section=${id} ...${shared} />`;
  if (shared.models?.length) return html`<${ComposePage} ...${shared} />`;
  if (shared.models) return html`<main><p>No model is open to this key.</p></main>`;
  return html`<main><${State} of=${models} /></main>`;
}

const place = document.getElementById('app');
place.replaceChildren();
render(html`<${App} />`, place);
