// The acts of operators, the newest first.

import { CopyButton } from '../../controls.js';
import { html } from '../../preact.js';
import { customerOf, Filter, Foreign, given, ListActions, State, Table, Time } from '../parts.js';
import { useList } from '../use-list.js';

const everyMs = 10_000;

/** `fixed`: filters that the page sets. */
export function LogList({ api, query, view, fixed = {} }) {
  const asked = { ...given(query, ['who', 'account']), ...fixed };
  const list = useList(api, '/log', { asked, everyMs });
  return html`
    <div class="filters">
      <${Filter} name="who" label="Operator" hint="its name" ...${{ view, query }} />
      ${
        !fixed.account &&
        html`<${Filter} name="account" label="Customer" hint="id or name" ...${{ view, query }} />`
      }
    </div>
    <${State} of=${list} />
    ${
      list.value &&
      (list.rows.length === 0
        ? html`<p class="nothing">No act has these filters.</p>`
        : html`<${Table} label="Acts" rows=${list.rows} keyOf=${({ number }) => number}
            columns=${[
              ['When', ({ at }) => html`<${Time} at=${at} />`],
              ['Who', ({ who }) => html`<${Foreign} text=${who} />`],
              ['Via', ({ via }) => via],
              [
                'Command',
                ({ command }) =>
                  html`<code><${Foreign} text=${command} /></code> <${CopyButton} text=${command} />`,
              ],
              ['Effect', ({ effect }) => html`<${Foreign} text=${effect} />`],
              !fixed.account && ['Customer', customerOf],
              ['Why', ({ why }) => why && html`<${Foreign} text=${why} />`],
            ]} />`)
    }
    <${ListActions} list=${list} path="/log" ...${{ api, asked }} />
  `;
}
