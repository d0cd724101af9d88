// What operators did. For owners also the operators themselves, and who is signed in.

import { html } from '../../preact.js';
import { useTitle } from '../parts.js';
import { LogList } from './list.js';
import { Operators } from './operators.js';

export function LogPage({ api, me, query }) {
  useTitle('Log');
  return html`
    <main>
      <h1>Log</h1>
      <${LogList} ...${{ api, query }} view="log" />
      ${me.role === 'owner' && html`<${Operators} api=${api} />`}
    </main>
  `;
}
