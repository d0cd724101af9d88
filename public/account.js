// The account: its balance, and a section for each of its things. The address names the section.

import { AlertsSection } from './alerts.js';
import { money } from './format.js';
import { KeysSection } from './keys.js';
import { MonthSection } from './month.js';
import { html } from './preact.js';
import { StatementSection } from './statement.js';
import { UsageSection } from './usage.js';
import { WebhooksSection } from './webhooks.js';

const sections = [
  ['', 'Statement', StatementSection],
  ['usage', 'Usage', UsageSection],
  ['months', 'Months', MonthSection],
  ['webhooks', 'Webhooks', WebhooksSection],
  ['alerts', 'Alerts', AlertsSection],
  ['keys', 'Keys', KeysSection],
];

export function AccountPage({ api, account, models, section }) {
  const [name, , Section] = sections.find(([one]) => one === section) ?? sections[0];
  const { available, held, currency } = account.value ?? {};
  return html`
    <main class="list">
      <h1>Account</h1>
      <div class="sums">
        <div class="card"><h2>Available</h2><p class="sum"><strong data-test="available">
          ${available === undefined ? '…' : money(available)}</strong> ${currency}</p></div>
        <div class="card"><h2>Held</h2><p class="sum"><strong data-test="held">
          ${held === undefined ? '…' : money(held)}</strong> ${currency}</p></div>
      </div>
      <nav class="sections" aria-label="Sections">
        ${sections.map(
          ([one, title]) => html`
            <a key=${one} href=${one ? `#/account/${String(one)}` : '#/account'}
              aria-current=${one === name ? 'page' : undefined}>${title}</a>
          `,
        )}
      </nav>
      <${Section} key=${name} api=${api} currency=${currency} models=${models} />
    </main>
  `;
}
