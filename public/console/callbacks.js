// The callbacks of all customers that are not delivered, in one state. An index has them.

import { Select } from '../controls.js';
import { html, useRef } from '../preact.js';
import { Callbacks, callbackStates } from './customer/callbacks.js';
import { useTitle } from './parts.js';
import { filter } from './route.js';

const listed = callbackStates.filter(([state]) => state !== 'delivered');

export function CallbacksPage({ api, me, query }) {
  useTitle('Callbacks');
  const lists = useRef({});
  const [state, title, none] = listed.find(([one]) => one === query.get('state')) ?? listed[0];
  return html`
    <main>
      <h1>Callbacks</h1>
      <div class="filters">
        <${Select} label="State" name="state" value=${state} options=${listed}
          onValue=${(value) => filter('callbacks', query, 'state', value)} />
      </div>
      <${Callbacks} key=${state} ...${{ api, state, title, none, lists }}
        may=${{ act: me.role !== 'viewer' }} reread=${() => lists.current[state]()} />
    </main>
  `;
}
